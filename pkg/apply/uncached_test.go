// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// The writer reads a child that is no longer rendered, and that only the status lists, before it deletes it.
func TestDeleteOfAnUncachedChild(t *testing.T) {
	leftover := func(kind child.Kind) plan.Step { return plan.Step{Action: plan.Delete, Ref: ref(kind)} }
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
	applytest.Put(f.server, child.Service, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	for _, observe := range []bool{true, false} {
		before := len(f.requests())
		steps := []plan.Step{leftover(child.ConfigMap), leftover(child.Service), leftover(child.Ingress)}
		var results []plan.Result
		want := []string{"get", "get", "get"}
		if observe {
			results = plan.Done(f.writer.Observe(t.Context(), f.application, steps))
		} else {
			results, want = f.execute(steps...), []string{"get", "delete", "get", "get"}
		}
		if requests := f.requests()[before:]; !slices.Equal(requests, want) {
			t.Errorf("observed %t, the requests are %q, want %q", observe, requests, want)
		}
		for _, result := range results {
			exists := result.Ref.Kind == child.ConfigMap
			if (result.Live != nil) != exists || !observe && result.Changed() != exists || result.Err != nil {
				t.Errorf("%s: live %v, changed %t, %v; the Service is foreign, the Ingress gone", result.Ref, result.Live, result.Changed(), result.Err)
			}
		}
	}
	if len(f.server.All(child.Service)) != 1 {
		t.Error("the foreign Service was deleted")
	}
}

// Another client has deleted an Ingress that waits for its HTTPRoute, or removed its label. The one that is gone does not wait.
func TestUncachedIngressThatWaitsForItsHTTPRoute(t *testing.T) {
	for _, exists := range []bool{true, false} {
		f := newFixture(t)
		if exists {
			f.do(f.create(child.Ingress, owned))
		}
		route := ref(child.HTTPRoute)
		step := plan.Step{Action: plan.WaitDependency, Ref: ref(child.Ingress), After: &route}
		result := plan.Done(f.execute(step))[0]
		want := plan.Delete // Nothing is left to do.
		if exists {
			want = plan.WaitDependency
		}
		if result.Action != want || (result.Live != nil) != exists || result.Changed() || result.Err != nil {
			t.Errorf("exists %t: the step is %s of %v, changed %t, %v", exists, result.Action, result.Live, result.Changed(), result.Err)
		}
		if left := len(f.server.All(child.Ingress)) == 1; left != exists {
			t.Errorf("exists %t: an Ingress is left: %t", exists, left)
		}
	}
}

func TestUncachedChildThatCannotBeRead(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned))
	f.on("get", func() error { return errBroken })
	if result := f.execute(plan.Step{Action: plan.Delete, Ref: ref(child.ConfigMap)})[0]; result.Err == nil || result.Changed() {
		t.Errorf("without an answer it is %+v", result)
	}
}

// What looks like drift may be the garbage collector's work; then the writer writes nothing.
func TestOwnerIsRechecked(t *testing.T) {
	f := newFixture(t)
	step := f.create(child.ConfigMap, owned)
	step.RecheckOwner = true
	results, err := f.writer.Execute(t.Context(), f.application, []plan.Step{step}, func(context.Context) error { return ErrOwnerDeleted })
	if !errors.Is(err, ErrOwnerDeleted) || len(results) > 0 || len(f.requests()) > 0 {
		t.Errorf("results %v, error %v, requests %q", results, err, f.requests())
	}
}

// A child that cannot be read is never treated as absent, whatever the reason. Only a 404 proves that it is.
func TestUncached(t *testing.T) {
	unknown := &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{
		Causes: []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Message: "404 page not found"}},
	}}}
	served := child.Unavailable{Message: "it is not listed", ListFailed: true, MayExist: true}
	for _, test := range []struct {
		name     string
		answer   error
		unserved child.Unavailable
		want     string
	}{
		{"it is read", nil, served, "read"},
		{"it is gone", apierrors.NewNotFound(schema.GroupResource{Resource: "ingresses"}, "web"), served, ""},
		{"it went with its API", unknown, child.Unavailable{Message: "not served"}, ""},
		{"one API server of several does not know its API", unknown, served, "failed"},
		{"it may not be read", apierrors.NewForbidden(schema.GroupResource{Resource: "ingresses"}, "web", errBroken), child.Unavailable{Message: "no permission", MayExist: true}, "failed"},
		{"its conversion webhook is down", apierrors.NewInternalError(errBroken), served, "failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.do(f.create(child.Ingress, owned))
			f.application.Status.Resources = []v1.ResourceStatus{
				{Group: child.Ingress.Group, Kind: child.Ingress.Kind, Name: "web", UID: f.cached(child.Ingress).GetUID()},
				{Kind: child.Service.Kind, Name: "web"}, // It was never there.
			}
			f.on("get", func() error { return test.answer })
			uncached, failed := f.writer.GetUncached(t.Context(), child.Snapshot{
				Application: f.application, Unavailable: map[child.Kind]child.Unavailable{child.Ingress: test.unserved},
			})
			if (uncached[ref(child.Ingress)] != nil) != (test.want == "read") || (failed[ref(child.Ingress)] != nil) != (test.want == "failed") || len(uncached)+len(failed) > 1 {
				t.Errorf("uncached are %v, failed are %v; want it %s", uncached, failed, test.want)
			}
		})
	}
}
