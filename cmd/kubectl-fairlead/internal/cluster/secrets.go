// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadMissingSecrets adds those of the named Secrets that do not exist. A user without permission to read Secrets learns nothing about
// them: many have none, and everything else can be said without it.
func (c *Clients) LoadMissingSecrets(ctx context.Context, loaded *Loaded, names []string) error {
	for _, name := range names {
		exists, err := c.HasSecret(ctx, loaded.Application.Namespace, name)
		switch {
		case err != nil && !apierrors.IsForbidden(err):
			return fmt.Errorf("get Secret %s: %w", name, err)
		case err == nil && !exists:
			loaded.MissingSecrets = append(loaded.MissingSecrets, name)
		}
	}
	return nil
}

// HasSecret reports whether a Secret exists. It asks for the metadata alone, so no private key leaves the API server.
func (c *Clients) HasSecret(ctx context.Context, namespace, name string) (bool, error) {
	_, err := c.Metadata.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
