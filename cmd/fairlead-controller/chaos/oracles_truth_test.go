// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// statusLag is how long a status may lag behind what it is about, on a busy machine, and while another program disturbs the cluster.
const statusLag = 3 * time.Minute

// waitTrue waits until the namespace is calm. Then, unless a fault lasts, what the conditions say is so.
func waitTrue(ctx context.Context, w *world, _ []string) error {
	if err := w.waitCalm(ctx); err != nil || w.isDisturbed() {
		return err
	}
	return w.truthful(ctx, statusLag)
}

// truthful checks that what the conditions say is so (I7). Status may lag behind the pods, but not for long.
func (w *world) truthful(ctx context.Context, within time.Duration) error {
	var lie error // The last one that was seen in full.
	err := wait.PollUntilContextTimeout(ctx, 5*period, within, true, func(ctx context.Context) (bool, error) {
		err := w.isTruthful(ctx)
		if errors.As(err, new(*violation)) {
			lie = err
			return false, nil
		}
		return err == nil, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil && lie != nil {
		return lie
	}
	return err
}

func (w *world) isTruthful(ctx context.Context) error {
	list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		application := &list.Items[i]
		if !meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionReady) || !isUpToDate(application) {
			continue
		}
		for _, resource := range application.Status.Resources {
			ref, known := child.RefOf(application, resource)
			switch {
			case !known || resource.State == v1.ResourceFailed || resource.State == v1.ResourceConflict:
				return violated("I7", "Application %s is Ready, and %s %s is %s", application.Name, resource.Kind, resource.Name, resource.State)
			case resource.State != v1.ResourceSynced:
				continue // It is not wanted any more, and waits until nothing uses it.
			}
			live, err := w.children(ref.Kind).Get(ctx, ref.Name, metav1.GetOptions{})
			if ignoreNotFound(err) != nil {
				return err
			}
			if err != nil || live.GetUID() != resource.UID || !child.OwnedBy(live, application) {
				return violated("I7", "Application %s is Ready, but its %s %s is not there, or not its own: %v", application.Name, resource.Kind, resource.Name, err)
			}
			if ref.Kind != child.Deployment {
				continue
			}
			wanted, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
			available, _, _ := unstructured.NestedInt64(live.Object, "status", "availableReplicas")
			if available < wanted {
				return violated("I7", "Application %s is Ready with %d of %d pods available", application.Name, available, wanted)
			}
		}
	}
	return nil
}

// isUpToDate reports whether the status is about the present. Of a suspended Application, or of one that goes, it is not.
func isUpToDate(application *v1.Application) bool {
	return application.DeletionTimestamp == nil && application.Spec.ReconcilePolicy != v1.ReconcileSuspend &&
		application.Status.ObservedGeneration == application.Generation
}

// TestReadyIsTrue has pods that never get ready, without any that serve meanwhile.
func TestReadyIsTrue(t *testing.T) {
	replay(t, `
		create a small
		wait
		edit a zero
		wait
		pods a readiness-failing
		edit a replicas
		wait
		pods a crash-loop
		pods a delete
		wait
	`)
}
