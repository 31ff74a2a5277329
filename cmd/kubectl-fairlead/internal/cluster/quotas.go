// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadLimitRanges adds the LimitRanges of the namespace, unless the user may not read them.
func (c *Clients) LoadLimitRanges(ctx context.Context, loaded *Loaded) error {
	list, err := c.Kube.CoreV1().LimitRanges(loaded.Application.Namespace).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return fmt.Errorf("list LimitRanges: %w", err)
	}
	loaded.LimitRanges, loaded.LimitRangesRead = pointers(list.Items), true
	return nil
}

// LoadQuotas adds the ResourceQuotas of the namespace, unless the user may not read them.
func (c *Clients) LoadQuotas(ctx context.Context, loaded *Loaded) error {
	list, err := c.Kube.CoreV1().ResourceQuotas(loaded.Application.Namespace).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return fmt.Errorf("list ResourceQuotas: %w", err)
	}
	loaded.Quotas, loaded.QuotasRead = pointers(list.Items), true
	return nil
}
