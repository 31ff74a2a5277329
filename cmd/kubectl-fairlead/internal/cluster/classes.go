// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// LoadClassesMissing finds out whether the cluster has no ApplicationClass at all. Without the CRD, it has none either.
func (c *Clients) LoadClassesMissing(ctx context.Context, loaded *Loaded) error {
	list, err := c.Fairlead.AppsV1().ApplicationClasses().List(ctx, metav1.ListOptions{Limit: 1})
	if apierrors.IsNotFound(err) {
		loaded.ClassesMissing = true
		return nil
	}
	return loaded.add(v1.ApplicationClassResource, err, func() { loaded.ClassesMissing = len(list.Items) == 0 })
}

// LoadMaxReplicas reads how many replicas the class that is applied allows. Without an answer, the limit is not known: what it is for is a
// courtesy, and no reason to say nothing else.
func (c *Clients) LoadMaxReplicas(ctx context.Context, loaded *Loaded) {
	applied := loaded.Application.Status.Class
	if applied == nil {
		return
	}
	class, err := c.Fairlead.AppsV1().ApplicationClasses().Get(ctx, applied.Name, metav1.GetOptions{})
	if err == nil && class.Spec.Limits != nil {
		loaded.MaxReplicas = class.Spec.Limits.MaxReplicas
	}
}
