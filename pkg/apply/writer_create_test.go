// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

func TestCreate(t *testing.T) {
	f := newFixture(t)
	result := f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
	f.wantStored(child.ConfigMap, "a: \"1\"\n", "data")
	stored := applytest.Get[*corev1.ConfigMap](f.server, child.ConfigMap, "shop", "web")
	if !child.OwnedBy(stored, f.application) {
		t.Error("the Application does not own what it created")
	}
	if result.UID != stored.UID || result.ResourceVersion != stored.ResourceVersion {
		t.Errorf("the result is about %s at %s, stored is %s at %s", result.UID, result.ResourceVersion, stored.UID, stored.ResourceVersion)
	}
	if got := f.managers(child.ConfigMap); !slices.Equal(got, []string{"fairlead Update"}) {
		t.Errorf("the fields are managed by %v", got)
	}
	if !f.waits(child.ConfigMap) {
		t.Error("the next sync does not wait for the write")
	}
}

// The name belongs to an object that the informers do not have, because it lacks the label.
func TestCreateWhereTheNameIsTaken(t *testing.T) {
	const step = owned + "data: {a: '1'}"
	bare := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Data: map[string]string{"a": "0"}}
	}
	t.Run("by nobody's object", func(t *testing.T) {
		f := newFixture(t)
		applytest.Put(f.server, child.ConfigMap, bare())
		before := f.server.Version()
		result := f.do(f.create(child.ConfigMap, step))
		if result.Action != plan.NotOwned || result.Reason != plan.NotOwnedMessage(&v1.Application{}, result.Ref, bare()) || result.UID != "" {
			t.Errorf("the result is %s of %q: %s", result.Action, result.UID, result.Reason)
		}
		if f.server.Version() != before {
			t.Error("a foreign object was changed")
		}
	})
	t.Run("by somebody's object", func(t *testing.T) {
		f := newFixture(t)
		theirs := bare()
		theirs.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: "boss", UID: "boss-uid", Controller: new(true)}}
		applytest.Put(f.server, child.ConfigMap, theirs)
		result := f.do(f.create(child.ConfigMap, step))
		if result.Action != plan.NotOwned || !strings.Contains(result.Reason, "Secret boss") {
			t.Errorf("the result is %s: %s", result.Action, result.Reason)
		}
		f.wantStored(child.ConfigMap, "a: \"0\"\n", "data")
	})
	t.Run("by the Application's own, without labels", func(t *testing.T) {
		f := newFixture(t)
		f.do(f.create(child.ConfigMap, step))
		applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Labels = nil })
		result := f.do(f.create(child.ConfigMap, step))
		if result.Action != plan.Apply || !result.Drift || result.Reason != "it lacked Fairlead's labels" {
			t.Errorf("the result is %s, drift %t: %s", result.Action, result.Drift, result.Reason)
		}
		f.wantStored(child.ConfigMap, "app.kubernetes.io/managed-by: fairlead\napps.fairlead.dev/application: web\n", "metadata", "labels")
		if got := f.server.UIDs(child.ConfigMap, "shop", "web"); len(got) != 1 {
			t.Errorf("it was created %d times", len(got))
		}
	})
	// kubectl replace with a bare manifest does this. The UID proves that the object is the same.
	t.Run("by the Application's own, without labels and owner", func(t *testing.T) {
		f := newFixture(t)
		created := f.do(f.create(child.ConfigMap, step))
		applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) { c.Labels, c.OwnerReferences = nil, nil })
		f.application.Status.Resources = []v1.ResourceStatus{{Kind: "ConfigMap", Name: "web", UID: created.UID}}
		if result := f.do(f.create(child.ConfigMap, step)); result.Action != plan.Apply || !result.Drift {
			t.Errorf("the result is %s, drift %t: %s", result.Action, result.Drift, result.Reason)
		}
		f.wantStored(child.ConfigMap, "app.kubernetes.io/managed-by: fairlead\napps.fairlead.dev/application: web\n", "metadata", "labels")
	})
	t.Run("by the Application's own, on its way out", func(t *testing.T) {
		f := newFixture(t)
		f.do(f.create(child.ConfigMap, step))
		applytest.Edit(f.server, child.ConfigMap, "shop", "web", func(c *corev1.ConfigMap) {
			c.Labels, c.Finalizers = nil, []string{"example.com/wait"}
		})
		f.server.Delete(child.ConfigMap, "shop", "web")
		before := f.server.Version()
		if result := f.do(f.create(child.ConfigMap, step)); result.Action != plan.WaitDeletion {
			t.Errorf("the result is %s: %s", result.Action, result.Reason)
		}
		if f.server.Version() != before {
			t.Error("an object on its way out was changed")
		}
	})
	t.Run("and free again before anybody looked", func(t *testing.T) {
		f := newFixture(t)
		applytest.Put(f.server, child.ConfigMap, bare())
		f.on("get", once(func() error { f.server.Delete(child.ConfigMap, "shop", "web"); return nil }))
		if result := f.try(f.create(child.ConfigMap, step)); !apierrors.IsNotFound(result.Err) {
			t.Errorf("the error is %v, want not found", result.Err)
		}
		f.do(f.create(child.ConfigMap, step))
	})
}

// A create whose response was lost has happened. The object is ours and has its labels, but the caches do not have it
// yet. That is no drift and needs no repair; the next sync waits for it.
func TestCreateWhoseAnswerWasLost(t *testing.T) {
	f := newFixture(t)
	f.on("create", once(func() error { return applytest.AnswerLostError{Err: errBroken} }))
	step := f.create(child.ConfigMap, owned+"data: {a: '1'}")
	if result := f.try(step); !errors.Is(result.Err, errBroken) {
		t.Fatalf("the error is %v", result.Err)
	}
	before := f.server.Version()
	result := f.try(step)
	if !apierrors.IsConflict(result.Err) || result.Drift {
		t.Errorf("the error is %v, drift %t; want a conflict and no drift", result.Err, result.Drift)
	}
	if f.server.Version() != before {
		t.Error("the child was written again")
	}
	if !f.waits(child.ConfigMap) {
		t.Error("the next sync does not wait until the cache shows the child")
	}
}

func TestOneFailureDoesNotStopTheOthers(t *testing.T) {
	f := newFixture(t)
	f.server.Intercept(func(_ context.Context, r applytest.Request) error {
		if r.Kind == child.Service {
			return errBroken
		}
		return nil
	})
	results := executed(t, t.Context(), f.writer, f.application, []plan.Step{
		f.create(child.ServiceAccount, owned),
		f.create(child.Service, owned),
		f.create(child.ConfigMap, owned),
	})
	if results[0].Err != nil || !errors.Is(results[1].Err, errBroken) || results[2].Err != nil {
		t.Errorf("the errors are %v, %v and %v", results[0].Err, results[1].Err, results[2].Err)
	}
	if want := "create Service shop/web: broken"; results[1].Err == nil || results[1].Err.Error() != want {
		t.Errorf("the error says %v, want %q", results[1].Err, want)
	}
	if got := f.server.All(); !slices.Equal(got, []child.Ref{ref(child.ServiceAccount), ref(child.ConfigMap)}) {
		t.Errorf("stored are %v", got)
	}
}

// When ctx ends, the running write finishes and no other starts.
func TestContextEndsInTheMiddle(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.on("create", func() error { cancel(); return nil })
	results := executed(t, ctx, f.writer, f.application, []plan.Step{
		f.create(child.ServiceAccount, owned),
		f.create(child.ConfigMap, owned),
		{Action: plan.Keep, Ref: ref(child.Service)},
		{Action: plan.WaitDeletion, Ref: ref(child.Ingress)},
	})
	if len(results) != 4 {
		t.Fatalf("%d results of 4 steps", len(results))
	}
	if results[0].Err != nil || !errors.Is(results[1].Err, context.Canceled) || results[2].Err != nil {
		t.Errorf("the errors are %v, %v and %v", results[0].Err, results[1].Err, results[2].Err)
	}
	if got := f.server.All(); !slices.Equal(got, []child.Ref{ref(child.ServiceAccount)}) {
		t.Errorf("stored are %v", got)
	}
}

// A step without a write passes on its action, with the UID of the live object.
func TestStepsThatWriteNothing(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned))
	live := f.cached(child.ConfigMap)
	before := f.server.Version()
	for _, action := range []plan.Action{plan.Keep, plan.WaitDeletion, plan.NotOwned, plan.Backoff} {
		step := plan.Step{Action: action, Ref: ref(child.ConfigMap), Live: live, Reason: "because"}
		result := f.do(step)
		if result.UID != live.GetUID() || result.Action != action || result.Reason != "because" || result.ResourceVersion != "" {
			t.Errorf("the result of %s is %+v", action, result)
		}
	}
	if f.server.Version() != before {
		t.Error("something was written")
	}
}
