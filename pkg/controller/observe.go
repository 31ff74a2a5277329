// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
)

// observe takes a Snapshot of the Application and its children from the caches. It reads nothing
// from the API server. found is false if the Application is gone.
func (c *Controller) observe(key cache.ObjectName) (snapshot child.Snapshot, found bool, err error) {
	application, found, err := c.Informers.Application(key)
	if err != nil {
		return child.Snapshot{}, false, fmt.Errorf("observe Application: %w", err)
	}
	if !found {
		return child.Snapshot{}, false, nil
	}
	unserved := c.Informers.Unavailable()
	children, err := c.Informers.Children(key)
	if err != nil {
		return child.Snapshot{}, false, fmt.Errorf("observe children: %w", err)
	}
	// What has appeared in between is for the next sync, as a whole.
	maps.DeleteFunc(children, func(ref child.Ref, _ child.Object) bool { _, is := unserved[ref.Kind]; return is })
	replicaSets, pods, err := c.Informers.Pods(key)
	if err != nil {
		return child.Snapshot{}, false, fmt.Errorf("observe pods: %w", err)
	}
	return child.Snapshot{Application: application, Children: children, Unavailable: unserved, ReplicaSets: replicaSets, Pods: pods}, true, nil
}

// observeUnseen adds children that are not rendered any more and that the caches do not show,
// because somebody took their label off. Without it they would stay: a NetworkPolicy would go on to
// hold traffic up, and an Ingress to let it in. It reads from the API server only where status still
// lists such a child, that is once.
func (c *Controller) observeUnseen(ctx context.Context, snapshot child.Snapshot, desired []child.Desired) (child.Snapshot, error) {
	unseen, err := c.Writer.GetUncached(ctx, snapshot, desired)
	if err != nil || len(unseen) == 0 {
		return snapshot, err
	}
	maps.Copy(unseen, snapshot.Children)
	snapshot.Children = unseen
	return snapshot, nil
}
