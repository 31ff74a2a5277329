// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// DefaultContainer is an annotation of pods with the name of the container for kubectl logs and exec.
const DefaultContainer = "kubectl.kubernetes.io/default-container"

// retarget lets what refers to the application's container by its former name find it: a container with such an environment would not
// start.
func retarget(spec *v1.ApplicationSpec, former, name string) {
	if spec.PodMetadata.Annotations[DefaultContainer] == former {
		spec.PodMetadata.Annotations[DefaultContainer] = name
	}
	resource := func(ref *corev1.ResourceFieldSelector) {
		if ref != nil && ref.ContainerName == former {
			ref.ContainerName = name
		}
	}
	environments := [][]corev1.EnvVar{spec.Env}
	for _, container := range slices.Concat(spec.Sidecars, spec.InitContainers) {
		environments = append(environments, container.Env)
	}
	for _, variable := range slices.Concat(environments...) {
		if variable.ValueFrom != nil {
			resource(variable.ValueFrom.ResourceFieldRef)
		}
	}
	for i := range spec.Mounts {
		if spec.Mounts[i].Projected == nil {
			continue
		}
		for _, source := range spec.Mounts[i].Projected.Sources {
			if source.DownwardAPI == nil {
				continue
			}
			for _, file := range source.DownwardAPI.Items {
				resource(file.ResourceFieldRef)
			}
		}
	}
}

// Mentioning returns the annotations with the name of a container as a word in the key or the value. What they do, only their own
// programs know: an annotation may mean something else by the word.
func Mentioning(annotations map[string]string, container string) (keys []string) {
	// Keys join the name to other words, as in fluentbit.io/parser-web. In values, that is another name, or a path.
	key, value := word(container, "a-zA-Z0-9"), word(container, "-a-zA-Z0-9_./")
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if key.MatchString(name) || value.MatchString(annotations[name]) {
			keys = append(keys, name)
		}
	}
	return keys
}

// word matches a name between characters that are not in the set.
func word(name, set string) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf("(^|[^%[1]s])%[2]s([^%[1]s]|$)", set, regexp.QuoteMeta(name)))
}
