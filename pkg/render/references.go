// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// ReferenceHashes are hashes of the content of ConfigMaps and Secrets that the pods use. They are
// apart, because the controller may have no permission to read Secrets.
type ReferenceHashes struct {
	ConfigMaps ReferenceHash
	Secrets    ReferenceHash
}

// ReferenceHash is of one kind of object. Its zero value means that there is none to be rendered.
type ReferenceHash struct {
	// Hash goes on the pod template, so that another one replaces the pods.
	Hash string
	// Versions tells from which versions of the objects the hash was computed. It goes on the
	// Deployment, and another one replaces nothing.
	Versions string
}

// annotate puts the hashes on a Deployment.
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
