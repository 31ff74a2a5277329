// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// imagePullPolicy returns the given policy, or the one that Kubernetes derives from the image: Always for the tag
// latest, explicit or implied, else IfNotPresent.
//
// It is always rendered, because the API server derives it only once. The policy of the first image would stay when
// the image changes, and two equal Applications could differ because of their past.
func imagePullPolicy(given corev1.PullPolicy, image string) corev1.PullPolicy {
	if given != "" {
		return given
	}
	name, _, hasDigest := strings.Cut(image, "@")
	// A colon before the last slash belongs to the port of a registry.
	_, tag, hasTag := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	if tag == "latest" || !hasTag && !hasDigest {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
