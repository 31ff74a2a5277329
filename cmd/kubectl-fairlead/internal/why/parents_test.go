// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"cmp"
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/summary"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestUnusedParents: a route that names a Gateway became an Ingress. why and status say so, and why.
func TestUnusedParents(t *testing.T) {
	const (
		unserved = "spec.routes[0].parentRefs has no effect: the cluster serves no HTTPRoutes, so Ingress cart was made."
		paths    = "spec.routes[0].parentRefs has no effect: an HTTPRoute has no pathType ImplementationSpecific, so Ingress cart was made."
	)
	for name, test := range map[string]struct {
		kinds []child.Kind
		route v1.Route
		older bool // Status is about an older spec.
		state v1.ResourceState
		want  string
	}{
		"no HTTPRoutes":        {kinds: []child.Kind{child.Ingress}, want: unserved},
		"Auto":                 {kinds: []child.Kind{child.Ingress}, route: v1.Route{Type: v1.RouteAuto}, want: unserved},
		"a path of an Ingress": {kinds: []child.Kind{child.Ingress}, route: v1.Route{Paths: []v1.RoutePath{{PathType: networkingv1.PathTypeImplementationSpecific}}}, want: paths},
		"an HTTPRoute":         {kinds: []child.Kind{child.HTTPRoute}},
		"both for a while":     {kinds: []child.Kind{child.Ingress, child.HTTPRoute}},
		"an older Ingress":     {kinds: []child.Kind{child.Ingress}, older: true},
		"not made":             {kinds: []child.Kind{child.Ingress}, state: v1.ResourceConflict},
		"asks for an Ingress":  {kinds: []child.Kind{child.Ingress}, route: v1.Route{Type: v1.RouteIngress}},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := clustertest.Load(t, "healthy")
			application := loaded.Application
			test.route.Name, test.route.ParentRefs = "public", []v1.ParentReference{{Name: "shared"}}
			application.Spec.Routes, application.Status.Resources = []v1.Route{test.route}, nil
			for _, kind := range test.kinds {
				application.Status.Resources = append(application.Status.Resources, v1.ResourceStatus{Group: kind.Group, Kind: kind.Kind, Name: application.Name, State: cmp.Or(test.state, v1.ResourceSynced)})
			}
			if test.older {
				application.Generation++
			}
			var got []string
			for _, finding := range why.Explain(loaded).Findings {
				if finding.Reason == "ParentRefsUnused" {
					got = append(got, finding.What)
				}
			}
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			if notes := summary.Of(loaded).Notes; !slices.Equal(got, want) || !slices.Equal(notes, want) {
				t.Errorf("why says %q, and status %q, want %q", got, notes, want)
			}
		})
	}
}
