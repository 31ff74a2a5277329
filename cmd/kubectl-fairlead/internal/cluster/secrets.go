// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadMissingSecrets adds those of the named Secrets that do not exist. A user without permission to read Secrets learns nothing about
// them: many have none, and everything else can be said without it.
func (c *Clients) LoadMissingSecrets(ctx context.Context, loaded *Loaded, names []string) error {
	for _, name := range names {
		_, err := c.Kube.CoreV1().Secrets(loaded.Application.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			loaded.MissingSecrets = append(loaded.MissingSecrets, name)
		case err != nil && !apierrors.IsForbidden(err):
			return fmt.Errorf("get Secret %s: %w", name, err)
		}
	}
	return nil
}
