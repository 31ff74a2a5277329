// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// ReferenceHashes are hashes of the ConfigMaps and Secrets that the pods use. They are separate, because the
// controller may have no permission to read Secrets.
type ReferenceHashes struct {
	ConfigMaps ReferenceHash
	Secrets    ReferenceHash
}

// ReferenceHash is the hash of one kind of object. The zero value renders nothing.
type ReferenceHash struct {
	// Hash is an annotation of the pod template, so a new one replaces the pods.
	Hash string
	// Versions identifies the versions of the objects from which the hash was computed. It is an annotation of the
	// Deployment, and replaces no pod.
	Versions string
}

// annotate sets the hashes on a Deployment.
func (h ReferenceHashes) annotate(deployment *appsv1ac.DeploymentApplyConfiguration) {
	annotate := func(hash ReferenceHash, hashKey, versionsKey string) {
		if hash.Hash == "" {
			return
		}
		deployment.Spec.Template.WithAnnotations(map[string]string{hashKey: hash.Hash})
		if hash.Versions != "" {
			deployment.WithAnnotations(map[string]string{versionsKey: hash.Versions})
		}
	}
	annotate(h.ConfigMaps, v1.AnnotationConfigMapsHash, v1.AnnotationConfigMapsVersions)
	annotate(h.Secrets, v1.AnnotationSecretsHash, v1.AnnotationSecretsVersions)
}
