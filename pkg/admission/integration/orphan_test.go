// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestOrphanIsFasterThanTheController asks for deletionPolicy Orphan and deletes at once, with no controller that
// could have put the finalizer on: the Application stays until the finalizer is taken off.
func TestOrphanIsFasterThanTheController(t *testing.T) {
	f := serve(t)
	f.register()
	apps := f.apps()
	orphan := func(a *v1.Application) { a.Spec.DeletionPolicy = v1.DeletionOrphan }
	if created, err := apps.Create(t.Context(), f.application("created", orphan), metav1.CreateOptions{}); err != nil || !slices.Equal(created.Finalizers, []string{v1.FinalizerOrphan}) {
		t.Fatalf("created: %v, %v", created, err)
	}
	edited, err := apps.Create(t.Context(), f.application("edited", func(*v1.Application) {}), metav1.CreateOptions{})
	if err != nil || len(edited.Finalizers) > 0 {
		t.Fatalf("an Application that needs no finalizer: %v, %v", edited, err)
	}
	edited.Spec.DeletionPolicy, edited.Spec.ReconcilePolicy = v1.DeletionOrphan, v1.ReconcileSuspend
	if _, err = apps.Update(t.Context(), edited, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"created", "edited"} {
		if err := apps.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		stays, err := apps.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || stays.DeletionTimestamp == nil {
			t.Fatalf("%s: %v, %v; want it to wait for its finalizer", name, stays, err)
		}
		if _, err := apps.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			t.Errorf("take off the finalizer of %s: %v", name, err)
		}
		if _, err := apps.Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}
