// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"k8s.io/apimachinery/pkg/api/resource"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// Server-side apply treats some structs and lists as one value: a manager that sets a part of them sets all of them
// (structType=atomic, listType=atomic in k8s.io/api). Such a live value equals the rendered one only as a whole, so the
// rendered one must already have the defaults that the API server sets inside. Everywhere else a default is just a field
// that we do not set.
//
// These are all such defaults inside values that an Application can have (from
// pkg/apis/*/v1/{defaults,zz_generated.defaults}.go of k8s.io/kubernetes v1.37):
//
//	atomic value                              default inside it
//	env[].valueFrom.fieldRef                  apiVersion: v1
//	env[].valueFrom.resourceFieldRef          divisor: "0" (a Quantity is never left out)
//	env[].valueFrom.fileKeyRef                optional: false
//	volumes[].projected.sources               serviceAccountToken.expirationSeconds: 3600
//	                                          podCertificate.maxExpirationSeconds: 86400
//	                                          downwardAPI.items[].fieldRef.apiVersion: v1
//	                                          downwardAPI.items[].resourceFieldRef.divisor: "0"
//	networkPolicy.spec.{ingress,egress}       ports[].protocol: TCP (set in networkpolicy.go)
//
// Atomic, but without a default inside: the label selectors, nodeSelector, tolerations, the
// terms of affinities, envFrom, command, args, the items of Secret and ConfigMap volumes,
// httpHeaders, capabilities, sysctls, an Ingress' rules and tls, an HPA's metrics and policies,
// ownerReferences, imagePullSecrets.

const (
	fieldRefAPIVersion                 = "v1"
	tokenExpirationSeconds       int64 = 3600
	certificateExpirationSeconds int32 = 86400
)

// completeEnv sets the defaults inside the sources of environment variables.
func completeEnv(env []corev1ac.EnvVarApplyConfiguration) {
	for i := range env {
		source := env[i].ValueFrom
		if source == nil {
			continue
		}
		completeFieldRef(source.FieldRef)
		completeResourceFieldRef(source.ResourceFieldRef)
		if ref := source.FileKeyRef; ref != nil && ref.Optional == nil {
			ref.WithOptional(false)
		}
	}
}

// completeProjected sets the defaults inside the sources of a projected volume.
func completeProjected(projected *corev1ac.ProjectedVolumeSourceApplyConfiguration) {
	if projected == nil {
		return
	}
	for i := range projected.Sources {
		source := &projected.Sources[i]
		if token := source.ServiceAccountToken; token != nil && token.ExpirationSeconds == nil {
			token.WithExpirationSeconds(tokenExpirationSeconds)
		}
		// The API documents this default, but not every API server stores it. If we set it, all of them return it.
		if certificate := source.PodCertificate; certificate != nil && certificate.MaxExpirationSeconds == nil {
			certificate.WithMaxExpirationSeconds(certificateExpirationSeconds)
		}
		if downward := source.DownwardAPI; downward != nil {
			for j := range downward.Items {
				completeFieldRef(downward.Items[j].FieldRef)
				completeResourceFieldRef(downward.Items[j].ResourceFieldRef)
			}
		}
	}
}

func completeFieldRef(ref *corev1ac.ObjectFieldSelectorApplyConfiguration) {
	if ref != nil && (ref.APIVersion == nil || *ref.APIVersion == "") {
		ref.WithAPIVersion(fieldRefAPIVersion)
	}
}

func completeResourceFieldRef(ref *corev1ac.ResourceFieldSelectorApplyConfiguration) {
	if ref != nil && ref.Divisor == nil {
		ref.WithDivisor(resource.Quantity{})
	}
}
