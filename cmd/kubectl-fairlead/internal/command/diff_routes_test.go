// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

func serves(kind child.Kind) *metav1.APIResourceList {
	return &metav1.APIResourceList{
		GroupVersion: kind.GroupVersionKind().GroupVersion().String(),
		APIResources: []metav1.APIResource{{Name: kind.Resource, Kind: kind.Kind, Verbs: metav1.Verbs{"list", "watch"}}},
	}
}

// TestLeaveOutUnserved: without the Gateway API, no HTTPRoute is created, and the Ingress that it replaces stays. Without the Prometheus
// Operator, no ServiceMonitor is.
func TestLeaveOutUnserved(t *testing.T) {
	changed := []preview.Child{
		{Kind: "Service", Name: "web", Action: preview.Update},
		{Kind: "HTTPRoute", Name: "web", Action: preview.Create},
		{Kind: "Ingress", Name: "web", Action: preview.Delete},
		{Kind: "Ingress", Name: "web-admin", Action: preview.Delete},
		{Kind: "ServiceMonitor", Name: "web", Action: preview.Create},
	}
	kube := kubefake.NewClientset()
	for _, test := range []struct {
		name   string
		served []*metav1.APIResourceList
		want   []preview.Child
	}{
		{"not served", nil, []preview.Child{changed[0], changed[3]}},
		{"served", []*metav1.APIResourceList{serves(child.HTTPRoute), serves(child.ServiceMonitor)}, changed},
		{"no Prometheus Operator", []*metav1.APIResourceList{serves(child.HTTPRoute)}, changed[:4]},
	} {
		kube.Resources = test.served
		d := preview.Difference{Children: slices.Clone(changed)}
		if err := leaveOutUnserved(t.Context(), &cluster.Clients{Kube: kube}, &d); err != nil {
			t.Fatal(err)
		}
		same := func(a, b preview.Child) bool { return a.Kind == b.Kind && a.Name == b.Name }
		if !slices.EqualFunc(d.Children, test.want, same) {
			t.Errorf("%s: %+v, want %+v", test.name, d.Children, test.want)
		}
	}
}
