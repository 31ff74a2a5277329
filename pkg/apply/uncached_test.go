// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
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
)

func TestUnseen(t *testing.T) {
	f := newFixture(t)
	f.do(f.create(child.ConfigMap, owned+"data: {a: '1'}"))
	f.do(f.create(child.ServiceAccount, owned))
	applytest.Put(f.server, child.Service, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	for _, kind := range []child.Kind{child.ConfigMap, child.ServiceAccount, child.Service, child.Ingress, {Kind: "Unheard"}} {
		f.application.Status.Resources = append(f.application.Status.Resources, v1.ResourceStatus{Group: kind.Group, Kind: kind.Kind, Name: "web"})
	}
	before := len(f.requests())
	got, err := f.writer.GetUncached(t.Context(), child.Snapshot{
		Application: f.application,
		Children:    map[child.Ref]child.Object{ref(child.ServiceAccount): f.cached(child.ServiceAccount)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[ref(child.ConfigMap)] == nil {
		t.Errorf("unseen are %v, want the ConfigMap: the ServiceAccount is seen, the Service foreign, the Ingress gone", got)
	}
	if requests := f.requests()[before:]; !slices.Equal(requests, []string{"get", "get", "get"}) {
		t.Errorf("the requests were %q, want one for each that is not seen and of a known kind", requests)
	}
}

func TestUnseenThatCannotBeRead(t *testing.T) {
	f := newFixture(t)
	f.application.Status.Resources = []v1.ResourceStatus{{Kind: child.ConfigMap.Kind, Name: "web"}}
	f.on("get", func() error { return errBroken })
	if got, err := f.writer.GetUncached(t.Context(), child.Snapshot{Application: f.application}, nil); err == nil {
		t.Errorf("without an answer, unseen are %v", got)
	}
}

// What cannot be read is never taken for absent, whatever the reason. What an API server says is not there, is not.
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
			uncached, failed := f.writer.GetAllUncached(t.Context(), child.Snapshot{
				Application: f.application, Unavailable: map[child.Kind]child.Unavailable{child.Ingress: test.unserved},
			})
			if (uncached[ref(child.Ingress)] != nil) != (test.want == "read") || (failed[ref(child.Ingress)] != nil) != (test.want == "failed") || len(uncached)+len(failed) > 1 {
				t.Errorf("uncached are %v, failed are %v; want it %s", uncached, failed, test.want)
			}
		})
	}
}
