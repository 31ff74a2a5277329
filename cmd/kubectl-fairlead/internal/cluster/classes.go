// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// LoadNoClass finds out whether the cluster has no ApplicationClass at all.
func (c *Clients) LoadNoClass(ctx context.Context, loaded *Loaded) error {
	list, err := c.Fairlead.AppsV1().ApplicationClasses().List(ctx, metav1.ListOptions{Limit: 1})
	return loaded.add(v1.ApplicationClassResource, err, func() { loaded.NoClass = len(list.Items) == 0 })
}
