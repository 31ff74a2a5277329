// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestLeaveOutUnserved: without the Gateway API, no HTTPRoute is created, and the Ingress that it replaces stays.
func TestLeaveOutUnserved(t *testing.T) {
	changed := []preview.Child{
		{Kind: "Service", Name: "web", Action: preview.Update},
		{Kind: "HTTPRoute", Name: "web", Action: preview.Create},
		{Kind: "Ingress", Name: "web", Action: preview.Delete},
		{Kind: "Ingress", Name: "web-admin", Action: preview.Delete},
	}
	application := &v1.Application{Spec: v1.ApplicationSpec{Routes: []v1.Route{{Type: v1.RouteHTTPRoute}}}}
	kube := kubefake.NewClientset()
	for _, test := range []struct {
		name   string
		served []*metav1.APIResourceList
		want   []preview.Child
	}{
		{"not served", nil, []preview.Child{changed[0], changed[3]}},
		{"served", []*metav1.APIResourceList{{
			GroupVersion: child.HTTPRoute.GroupVersionKind().GroupVersion().String(),
			APIResources: []metav1.APIResource{{Name: child.HTTPRoute.Resource, Kind: child.HTTPRoute.Kind, Verbs: metav1.Verbs{"list", "watch"}}},
		}}, changed},
	} {
		kube.Resources = test.served
		d := preview.Difference{Children: slices.Clone(changed)}
		if err := leaveOutUnserved(t.Context(), &cluster.Clients{Kube: kube}, application, &d); err != nil {
			t.Fatal(err)
		}
		same := func(a, b preview.Child) bool { return a.Kind == b.Kind && a.Name == b.Name }
		if !slices.EqualFunc(d.Children, test.want, same) {
			t.Errorf("%s: %+v, want %+v", test.name, d.Children, test.want)
		}
	}
}
