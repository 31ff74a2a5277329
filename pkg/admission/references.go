// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/reference"
)

// The kinds of a Reference: Deployment is of the group apps, all others of the core group.
const (
	KindConfigMap      = string(reference.ConfigMap)
	KindSecret         = string(reference.Secret)
	KindNamespace      = "Namespace"
	KindServiceAccount = "ServiceAccount"
	KindDeployment     = "Deployment"
)

// Reference is an object that concerns an Application: one of its namespace that its pods need, or that namespace.
type Reference struct {
	Kind, Namespace, Name string
}

// referencesOf are the objects that the pods need, each once. What is optional is left out; so is the
// Secret of a route, which its certificate's issuer usually makes afterwards.
func referencesOf(application *v1.Application) []Reference {
	var references []Reference
	seen := map[Reference]struct{}{}
	add := func(kind, name string) {
		r := Reference{Kind: kind, Namespace: application.Namespace, Name: name}
		if _, found := seen[r]; !found && name != "" {
			seen[r] = struct{}{}
			references = append(references, r)
		}
	}
	for _, used := range reference.FromSpec(&application.Spec) {
		if used.Required {
			add(string(used.Kind), used.Name)
		}
	}
	for _, secret := range application.Spec.ImagePullSecrets {
		add(KindSecret, secret.Name)
	}
	add(KindServiceAccount, serviceAccountName(application))
	return references
}
