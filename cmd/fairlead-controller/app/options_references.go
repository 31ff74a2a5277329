// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/cache"
)

const (
	// hashKeySecretName is the Secret with the key for the hashes of Secrets.
	hashKeySecretName = "fairlead-config-hash-key" //nolint:gosec // The name of a Secret, not its content.
	// defaultNamespace is where it is if the controller runs in no namespace. It is the one into which
	// the manifests install, so that a controller in the cluster takes the key of one that ran outside
	// of it: another key would replace pods.
	defaultNamespace = "fairlead-system"
)

// hashKeySecret says in which Secret the key for the hashes of Secrets is kept. The namespace is that of
// the controller, if it has one.
func (o *Options) hashKeySecret(namespace string) cache.ObjectName {
	if namespace, name, found := strings.Cut(o.ConfigHashKeySecret, "/"); found {
		return cache.ObjectName{Namespace: namespace, Name: name}
	}
	return cache.ObjectName{Namespace: cmp.Or(namespace, defaultNamespace), Name: hashKeySecretName}
}

func (o *Options) validateHashKeySecret() []error {
	if o.ConfigHashKeySecret == "" {
		return nil
	}
	namespace, name, _ := strings.Cut(o.ConfigHashKeySecret, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return []error{fmt.Errorf("--config-hash-key-secret is %q, but must be the namespace and name of a Secret, with a / between them", o.ConfigHashKeySecret)}
	}
	return nil
}
