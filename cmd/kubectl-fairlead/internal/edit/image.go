// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// tagAlone matches what is an image for Kubernetes, and more likely the tag of one.
var tagAlone = regexp.MustCompile(`^v?\d+(\.\d+)*$`)

// TagsAlone warns of images that are probably tags. Each warning shows the tag behind the image that the container has.
func TagsAlone(application *v1.Application, images ...Image) (warnings []string) {
	for _, image := range images {
		if !tagAlone.MatchString(image.Image) {
			continue
		}
		repository := repositoryOf(imageOf(application, cmp.Or(image.Container, application.Name)))
		if repository == "" || tagAlone.MatchString(repository) {
			repository = "registry.example.com/" + application.Name
		}
		warnings = append(warnings, fmt.Sprintf("%s is taken as an image: if it is a tag, write the image before it, as in %[2]s:%[1]s", image.Image, repository))
	}
	return warnings
}

// imageOf is the image of a container; "" if there is no such container.
func imageOf(application *v1.Application, container string) string {
	if container == application.Name {
		return application.Spec.Image
	}
	for _, containers := range [][]corev1.Container{application.Spec.Sidecars, application.Spec.InitContainers} {
		for i := range containers {
			if containers[i].Name == container {
				return containers[i].Image
			}
		}
	}
	return ""
}

// repositoryOf is the image without its tag and its digest. A colon before the last slash belongs to the port of the registry.
func repositoryOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
		return image[:at]
	}
	return image
}
