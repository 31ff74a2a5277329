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
	// defaultNamespace has the Secret if the controller runs outside a cluster. The manifests install into the same
	// namespace, so that a controller in the cluster uses the same key: another key would roll pods.
	defaultNamespace = "fairlead-system"
)

// hashKeySecret returns the name of the Secret with the key for the hashes of Secrets, by default in the
// controller's namespace.
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
		return []error{fmt.Errorf("--config-hash-key-secret is %q, but must be namespace/name of a Secret", o.ConfigHashKeySecret)}
	}
	return nil
}
