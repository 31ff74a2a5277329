// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// service is a child in a version, with an owner and a label, "" for none.
func service(version, owner, label string) *informer.Encoded {
	return &informer.Encoded{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "front", ResourceVersion: version},
		Owner:      owner, Label: label,
	}
}

// servingRoute is the live Ingress of web.
func servingRoute(t *testing.T, version, host string) *informer.Encoded {
	t.Helper()
	packed, err := informer.Encode(&networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "web", ResourceVersion: version, Labels: map[string]string{v1.LabelApplication: "web"},
		},
		Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: host}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func versioned(version string) *v1.Application {
	a := application("web")
	a.ResourceVersion = version
	return a
}

func TestHandlers(t *testing.T) {
	for _, test := range []struct {
		name  string
		event func(h *handlers)
		// want are the keys' names, each with its trigger.
		want []string
	}{
		{"Application added", func(h *handlers) { h.OnAdd(versioned("1"), false) }, []string{"web ApplicationAdded"}},
		{"Application listed", func(h *handlers) { h.OnAdd(versioned("1"), true) }, []string{"web ApplicationListed"}},
		{"Application updated", func(h *handlers) { h.OnUpdate(versioned("1"), versioned("2")) }, []string{"web ApplicationUpdated"}},
		{"Application resynced", func(h *handlers) { h.OnUpdate(versioned("1"), versioned("1")) }, []string{"web ApplicationResynced"}},
		{"Application deleted", func(h *handlers) {
			h.OnDelete(cache.DeletedObject[*v1.Application]{OptionalObj: versioned("1")})
		}, []string{"web ApplicationDeleted"}},
		{"Application deleted unseen", func(h *handlers) {
			h.OnDelete(cache.DeletedObject[*v1.Application]{FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: key("web").String()}})
		}, []string{"web ApplicationDeleted"}},

		{"routes added", func(h *handlers) { h.OnAdd(routed("web", "a.example.com"), false) }, []string{"web ApplicationAdded"}},
		{"routes unchanged", func(h *handlers) { h.OnUpdate(routed("web", "a.example.com"), routed("web", "a.example.com")) }, []string{"web ApplicationResynced"}},
		{"routes removed", func(h *handlers) { h.OnUpdate(routed("web", "a.example.com"), application("web")) }, []string{"web ApplicationResynced", "rival ApplicationResynced"}},
		{"routes deleted", func(h *handlers) {
			h.OnDelete(cache.DeletedObject[*v1.Application]{OptionalObj: routed("web", "a.example.com")})
		}, []string{"web ApplicationDeleted", "rival ApplicationDeleted"}},

		{"a route that served more", func(h *handlers) {
			h.ChildUpdated(child.Ingress, servingRoute(t, "1", "a.example.com"), servingRoute(t, "2", "b.example.com"))
		}, []string{"web IngressUpdated", "web IngressUpdated", "rival IngressUpdated"}},
		{"a route that serves the same", func(h *handlers) {
			h.ChildUpdated(child.Ingress, servingRoute(t, "1", "a.example.com"), servingRoute(t, "2", "a.example.com"))
		}, []string{"web IngressUpdated", "web IngressUpdated"}},
		{"a route deleted", func(h *handlers) { h.ChildDeleted(child.Ingress, servingRoute(t, "1", "a.example.com")) }, []string{"web IngressDeleted", "rival IngressDeleted"}},

		{"child added", func(h *handlers) { h.ChildAdded(child.Service, service("1", "web", "web"), false) }, []string{"web ServiceAdded"}},
		{"child listed", func(h *handlers) { h.ChildAdded(child.Service, service("1", "web", "web"), true) }, []string{"web ServiceListed"}},
		{"child of an owner", func(h *handlers) { h.ChildAdded(child.Service, service("1", "web", ""), false) }, []string{"web ServiceAdded"}},
		{"child by its label", func(h *handlers) { h.ChildAdded(child.Service, service("1", "", "web"), false) }, []string{"web ServiceAdded"}},
		{"child of one, labelled for another", func(h *handlers) {
			h.ChildAdded(child.Service, service("1", "web", "api"), false)
		}, []string{"web ServiceAdded", "api ServiceAdded"}},
		{"child of nobody", func(h *handlers) { h.ChildAdded(child.Service, service("1", "", ""), false) }, nil},

		{"child updated", func(h *handlers) {
			h.ChildUpdated(child.Service, service("1", "web", "web"), service("2", "web", "web"))
		}, []string{"web ServiceUpdated", "web ServiceUpdated"}},
		{"child not changed", func(h *handlers) {
			h.ChildUpdated(child.Service, service("1", "web", "web"), service("1", "web", "web"))
		}, nil},
		{"owner changed", func(h *handlers) {
			h.ChildUpdated(child.Service, service("1", "web", ""), service("2", "api", ""))
		}, []string{"web ServiceUpdated", "api ServiceUpdated"}},
		{"owner and label removed", func(h *handlers) {
			h.ChildUpdated(child.Service, service("1", "web", "web"), service("2", "", ""))
		}, []string{"web ServiceUpdated"}},
		{"child deleted", func(h *handlers) { h.ChildDeleted(child.Service, service("1", "web", "")) }, []string{"web ServiceDeleted"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			enqueue := func(key cache.ObjectName, trigger workqueue.Trigger) {
				if key.Namespace != namespace {
					t.Errorf("queued %s", key)
				}
				got = append(got, key.Name+" "+trigger.String())
			}
			rival := application("rival")
			rival.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonRouteConflict}}
			test.event(&handlers{enqueue: enqueue, claimants: claimants{enqueue: enqueue, claims: func(string) ([]v1.RouteClaim, error) {
				return []v1.RouteClaim{{Application: application("web")}, {Application: rival}, {Application: application("content")}}, nil
			}}})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("queued (-want +got):\n%s", diff)
			}
		})
	}
}
