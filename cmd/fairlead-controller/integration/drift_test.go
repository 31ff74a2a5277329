// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// drift is a change that a user, or another controller, makes to a child.
type drift struct {
	what string
	// patch is a JSON patch, if it is a list, else a merge patch. Empty: the child is deleted.
	patch string
	// subresource of the patch, usually "".
	subresource string
	// update sends the patched object as a whole, as kubectl edit and replace do.
	update bool
}

// repairsEach is how many repairs a child gets in these tests: less than what counts as a fight.
const repairsEach = 4

// TestDriftIsRepaired changes each kind of child as users do, and waits until the child is as it was before, field by
// field. Only the watch can cause that: there is no resync, and the Application does not change.
func TestDriftIsRepaired(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, kind := range namedKinds() {
		t.Run(kind.Kind, func(t *testing.T) {
			t.Parallel()
			e := e.sub(t)
			drifts := append(commonDrifts(), driftsOf(kind)...)
			for i := 0; i < len(drifts); i += repairsEach {
				application := fmt.Sprintf("%s-%d", lower(kind), i/repairsEach)
				e.apply(specOf(application, driftSpec(kind)))
				e.waitApplication(application, "is settled", settled)
				for j, drift := range drifts[i:min(i+repairsEach, len(drifts))] {
					drift.update = j%2 == 1
					e.repaired(kind, application, drift)
				}
				e.mine = nil
			}
		})
	}
}

// repaired lets a child drift and waits until it is repaired.
func (e *env) repaired(kind child.Kind, application string, drift drift) {
	e.Helper()
	owner := e.application(application).UID
	name := childName(kind, application)
	before := content(e.live(kind, name), owner)
	drifted := e.drift(kind, name, drift)
	if drifted != nil && cmp.Equal(before, content(drifted, owner)) && drift.patch != hashRemoved && drift.patch != hashChanged {
		e.Fatalf("%s: this changes nothing", drift.what)
	}
	e.eventually(fmt.Sprintf("%s is repaired: %s (-want +got)", name, drift.what), func() (bool, string) {
		live := e.live(kind, name)
		if live == nil {
			return false, "there is no " + kind.Kind
		}
		diff := cmp.Diff(before, content(live, owner))
		return diff == "" && live.GetAnnotations()[v1.AnnotationRenderedHash] != "" && live.GetAnnotations()[v1.AnnotationRenderedHash] != "x", diff
	})
}

// drift does what a person does, and returns the child as it is then.
func (e *env) drift(kind child.Kind, name string, drift drift) *unstructured.Unstructured {
	e.Helper()
	if drift.patch == "" {
		e.deleteChild(kind, name)
		return nil
	}
	patchType := types.MergePatchType
	if drift.patch[0] == '[' {
		patchType = types.JSONPatchType
	}
	if drift.update && drift.subresource == "" {
		patched, err := e.children(kind).Patch(e.Context(), name, patchType, []byte(drift.patch), metav1.PatchOptions{FieldManager: person, DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			patched, err = e.children(kind).Update(e.Context(), patched, metav1.UpdateOptions{FieldManager: person})
		}
		if err == nil {
			return patched
		}
		if !apierrors.IsConflict(err) {
			e.Fatalf("update %s: %v", e.ref(kind.Kind, name), err)
		}
	}
	if drift.subresource != "" {
		e.patch(kind, name, patchType, drift.patch, drift.subresource)
		return nil
	}
	return e.patch(kind, name, patchType, drift.patch)
}

// TestRepairIsTold checks what a repair leaves behind: an Event that names the child, and the same status as before.
func TestRepairIsTold(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(full)
	before := e.waitReady("web")
	for _, kind := range namedKinds() {
		name := childName(kind, "web")
		if kind != child.Service { // One that is deleted instead.
			e.patch(kind, name, types.MergePatchType, `{"metadata":{"labels":{"app.kubernetes.io/name":"other"}}}`)
		} else {
			e.deleteChild(kind, name)
		}
		event := e.waitEvent("web", v1.EventDriftRepaired, kind.Kind, name)
		if event.Type != "Normal" || event.Regarding.UID != before.UID || event.Related.APIVersion != kind.GroupVersionKind().GroupVersion().String() || event.Note == "" {
			t.Errorf("the Event is %+v", event)
		}
	}
	after := e.waitReady("web")
	for _, resource := range after.Status.Resources {
		if resource.State != v1.ResourceSynced {
			t.Errorf("%s %s is %s: %s", resource.Kind, resource.Name, resource.State, resource.Message)
		}
	}
}

// settled reports whether a sync has found nothing to do or to wait for.
func settled(application *v1.Application) bool {
	for _, condition := range application.Status.Conditions {
		if condition.Type == v1.ConditionReconciling {
			return false
		}
	}
	for _, resource := range application.Status.Resources {
		if resource.State != v1.ResourceSynced {
			return false
		}
	}
	return len(application.Status.Resources) > 0
}
