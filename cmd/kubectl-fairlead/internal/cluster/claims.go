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

// LoadUnboundClaims adds those of the named PersistentVolumeClaims that have no volume yet. A claim that does not exist is left out: the
// scheduler says so at once. So is one that the user may not read.
func (c *Clients) LoadUnboundClaims(ctx context.Context, loaded *Loaded, names []string) error {
	for _, name := range names {
		claim, err := c.Kube.CoreV1().PersistentVolumeClaims(loaded.Application.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		case err != nil:
			return fmt.Errorf("get PersistentVolumeClaim %s: %w", name, err)
		case claim.Status.Phase != corev1.ClaimBound:
			loaded.UnboundClaims = append(loaded.UnboundClaims, claim)
		}
	}
	return nil
}
