// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// handleExisting reads the object that has the name of a new child. If the Application owns it and it lacks the
// label, the writer restores the label.
func (w *Writer) handleExisting(ctx context.Context, owner cache.ObjectName, application *v1.Application, result plan.Result) plan.Result {
	object, err := w.client.Get(ctx, result.Ref)
	if err != nil {
		// If it was deleted in between, the next sync creates the child.
		result.Err = fmt.Errorf("get %s, whose name is taken: %w", result.Ref, err)
		return result
	}
	instead := result.Step
	result.Instead = &instead
	switch {
	case !child.OwnedBy(object, application) && !child.IsOrphaned(application, result.Ref, object):
		foreign := metav1.Object(object)
		if result.Ref.Kind == child.Deployment {
			foreign = WithSelection(ctx, w.client, object)
		}
		instead = instead.Foreign(application, foreign)
		return result
	case object.GetDeletionTimestamp() != nil:
		instead.Action, instead.Reason = plan.WaitDeletion, "it is being deleted"
		return result
	case selected(object, application):
		// The informers select it, so they only lag: behind a create whose response was lost, or that the
		// previous leader sent. The next sync waits until they show it.
		w.consistencyStore.WroteAt(owner, result.Ref.Kind.GroupVersionResource(), object.GetResourceVersion())
		result.Err = fmt.Errorf("create %s: %w", result.Ref, newConflict(result.Ref, errNotCached))
		return result
	}
	instead.Action, instead.Live, instead.Drift, instead.Reason = plan.Apply, object, true, "it lacked Fairlead's labels"
	return w.relabel(ctx, owner, result)
}

// meetDeployment reads a Deployment that waits because an object is foreign to which it refers. Most often a user has ejected both, and would
// learn of the Deployment only after seeing to the other. What has its name is then the result, if it is foreign too.
func (w *Writer) meetDeployment(ctx context.Context, application *v1.Application, result plan.Result, results []plan.Result) plan.Result {
	waiting := result.Done()
	target, waits := waiting.Unowned(results)
	if !waits || target.Done().Action != plan.NotOwned || waiting.Ref.Kind != child.Deployment || waiting.Action != plan.WaitDependency || waiting.Live != nil {
		return result
	}
	object, err := w.client.Get(ctx, waiting.Ref)
	if err != nil || child.OwnedBy(object, application) || child.IsOrphaned(application, waiting.Ref, object) {
		return result // It does not exist, or what the plan says about it is as good as can be.
	}
	foreign := waiting.Foreign(application, WithSelection(ctx, w.client, object))
	result.Instead = &foreign
	return result
}

// WithSelection adds to the metadata of a Deployment that is not the Application's what decides whether a user is advised to let the
// Application adopt it, and what becomes of its pods without it. If that cannot be read, nothing is known about it: the advice may be wrong,
// and the adoption is refused later.
func WithSelection(ctx context.Context, client Client, object *metav1.PartialObjectMetadata) metav1.Object {
	ref := child.Ref{Kind: child.Deployment, Namespace: object.Namespace, Name: object.Name}
	selection, err := client.Selection(ctx, ref)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("The selector of a foreign Deployment was not read", "object", klog.KObj(object), "err", err)
		return object
	}
	return &appsv1.Deployment{ObjectMeta: object.ObjectMeta, Spec: *selection}
}

// selected reports whether the informers select the object as a possible child of the Application.
func selected(object metav1.Object, application *v1.Application) bool {
	labels := object.GetLabels()
	return labels[v1.LabelManagedBy] == v1.ManagedBy &&
		(labels[v1.LabelApplication] == application.Name || metav1.GetControllerOfNoCopy(object) != nil)
}

// relabel restores the labels by which the informers select, and nothing else: any other change depends on the rest
// of the child, which the next sync will see.
func (w *Writer) relabel(ctx context.Context, owner cache.ObjectName, result plan.Result) plan.Result {
	object, err := result.Desired.Object()
	if err != nil {
		result.Err = err
		return result
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":    result.Done().Live.GetUID(),
		"labels": object.GetLabels(),
	}})
	if err != nil {
		result.Err = fmt.Errorf("encode labels of %s: %w", result.Ref, err)
		return result
	}
	labelled, err := w.patch(ctx, result.Ref, types.MergePatchType, body, FieldManager)
	if err != nil {
		result.Err = fmt.Errorf("label %s: %w", result.Ref, err)
		return result
	}
	return w.recordWrite(owner, result, labelled)
}
