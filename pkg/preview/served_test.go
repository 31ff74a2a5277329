// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestLacksHTTPRoutes: without the Gateway API, a route with parentRefs becomes an Ingress, so render and diff have to know.
func TestLacksHTTPRoutes(t *testing.T) {
	routed := &v1.Application{Spec: v1.ApplicationSpec{Routes: []v1.Route{{Name: "public"}}}}
	for _, test := range []struct {
		serves      string
		application *v1.Application
		lacks       bool
	}{
		{"gateway.networking.k8s.io/v1", routed, false},
		{"gateway.networking.k8s.io/v1beta1", routed, true},
		{"gateway.networking.k8s.io/v1beta1", &v1.Application{}, false}, // It does not matter.
	} {
		kube := kubefake.NewClientset()
		kube.Resources = []*metav1.APIResourceList{{GroupVersion: test.serves}}
		lacks, err := LacksHTTPRoutes(t.Context(), kube.Discovery(), test.application)
		if lacks != test.lacks || err != nil {
			t.Errorf("%s with %d routes: %t, %v, want %t", test.serves, len(test.application.Spec.Routes), lacks, err, test.lacks)
		}
	}
}
