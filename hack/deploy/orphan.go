// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

var errNotSet = errors.New("the API server accepted it and does not have it")

// With deletionPolicy Orphan, the finalizer holds an Application until the controller has released its children. The webhook or the
// controller sets it. If neither ran when the policy was set, the Application would go at once, and the garbage collector would delete
// the children.

// secureAll sets the missing finalizers, before the first deletion. It lists the Applications again: the answer may have taken long.
func (c *cluster) secureAll(ctx context.Context, crds []*unstructured.Unstructured) error {
	for _, crd := range crds {
		all, err := c.objectsOf(ctx, crd)
		if err != nil {
			return err
		}
		for i := range all {
			if err := c.secure(ctx, &all[i], nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// secure sets the finalizer on an Application with deletionPolicy Orphan. Without it, an error says that the children would go. The
// dryRun is that of PatchOptions.
func (c *cluster) secure(ctx context.Context, object *unstructured.Unstructured, dryRun []string) error {
	resource, err := c.objects.ResourceOf(object, "")
	if err != nil {
		return err
	}
	live := object
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if !leavesChildren(live) || isHeld(live) {
			return nil
		}
		if live.GetDeletionTimestamp() != nil {
			return c.requireReleased(ctx, live) // The API server accepts no finalizer any more.
		}
		err := setFinalizer(ctx, resource, live, dryRun)
		if apierrors.IsConflict(err) {
			latest, getErr := resource.Get(ctx, live.GetName(), metav1.GetOptions{})
			if getErr != nil {
				return getErr
			}
			live = latest
		}
		if err == nil && len(dryRun) == 0 {
			fmt.Fprintf(c.out, "set: the finalizer %s of %s\n", v1.FinalizerOrphan, nameOf(live))
		}
		return err
	})
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%w: the children of %s would go, although its deletionPolicy is Orphan: %w", errDeclined, nameOf(object), err)
}

func leavesChildren(object *unstructured.Unstructured) bool {
	policy, _, _ := unstructured.NestedString(object.Object, "spec", "deletionPolicy")
	return object.GetKind() == v1.ApplicationKind && policy == string(v1.DeletionOrphan)
}

func isHeld(object *unstructured.Unstructured) bool {
	ours, _ := finalizersOf(object)
	return ours
}

// setFinalizer adds the finalizer to exactly this version of the Application.
func setFinalizer(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured, dryRun []string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             object.GetUID(),
		"resourceVersion": object.GetResourceVersion(),
		"finalizers":      append(slices.Clone(object.GetFinalizers()), v1.FinalizerOrphan),
	}})
	if err != nil {
		return fmt.Errorf("encode the finalizers: %w", err)
	}
	patched, err := resource.Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager, DryRun: dryRun})
	if err == nil && !isHeld(patched) {
		err = errNotSet
	}
	if err != nil {
		return fmt.Errorf("set the finalizer %s: %w", v1.FinalizerOrphan, err)
	}
	return nil
}

// requireReleased returns an error if children still have an ownerReference to an Application that is being deleted without the
// finalizer. If they have none, the controller released them, and the finalizer of another tool holds the Application.
func (c *cluster) requireReleased(ctx context.Context, application *unstructured.Unstructured) error {
	var owned []string
	for _, kind := range child.AllKinds() {
		if !kind.OutlivesApplication() {
			continue
		}
		list, err := c.objects.Resource(kind.GroupVersionResource()).Namespace(application.GetNamespace()).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // The cluster does not serve the kind.
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", kind.Resource, err)
		}
		for i := range list.Items {
			isOwner := func(owner metav1.OwnerReference) bool { return owner.UID == application.GetUID() }
			if slices.ContainsFunc(list.Items[i].GetOwnerReferences(), isOwner) {
				owned = append(owned, kind.Kind+" "+list.Items[i].GetName())
			}
		}
	}
	if len(owned) == 0 {
		return nil
	}
	return fmt.Errorf("it is being deleted without the finalizer %s, and owns %s; to keep them, remove their ownerReferences; to let them go, set deletionPolicy to Delete",
		v1.FinalizerOrphan, strings.Join(owned, ", "))
}
