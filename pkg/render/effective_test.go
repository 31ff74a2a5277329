// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
)

func TestReplicas(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		fixed      *int32
		autoscaled bool
	}{
		{"open", ``, nil, false},
		{"fixed", `replicas: 3`, pointer[int32](3), false},
		{"none", `replicas: 0`, pointer[int32](0), false},
		{"autoscaled", `autoscaling: {minReplicas: 2, maxReplicas: 4}`, nil, true},
		{"autoscaled from the default of 1", `autoscaling: {maxReplicas: 4}`, nil, true},
		{"autoscaled from zero", `autoscaling: {minReplicas: 0, maxReplicas: 4}`, nil, true},
		{"no room to scale", `autoscaling: {minReplicas: 4, maxReplicas: 4}`, pointer[int32](4), false},
		{"no room above the default of 1", `autoscaling: {maxReplicas: 1}`, pointer[int32](1), false},
		{"no room at zero", `autoscaling: {minReplicas: 0, maxReplicas: 0}`, pointer[int32](0), false},
		{"invalid: more than the most", `autoscaling: {minReplicas: 4, maxReplicas: 2}`, nil, false},
		{"invalid: both", `{replicas: 3, autoscaling: {minReplicas: 2, maxReplicas: 4}}`, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			app := application(t, test.spec)
			if diff := cmp.Diff(test.fixed, render.FixedReplicas(app)); diff != "" {
				t.Errorf("FixedReplicas (-want +got):\n%s", diff)
			}
			if got := render.Autoscaled(app); got != test.autoscaled {
				t.Errorf("Autoscaled: got %t, want %t", got, test.autoscaled)
			}
		})
	}
}

func TestPorts(t *testing.T) {
	if port := render.PrimaryPort(application(t, ``)); port != nil {
		t.Errorf("PrimaryPort of a worker: got %v, want none", port)
	}
	app := application(t, `ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9000, servicePort: 90}]`)
	if port := render.PrimaryPort(app); port == nil || port.Name != "http" {
		t.Errorf("PrimaryPort: got %v, want http", port)
	}
	if got := render.ServicePort(app.Spec.Ports[0]); got != 8080 {
		t.Errorf("ServicePort without one: got %d, want the containerPort", got)
	}
	if got := render.ServicePort(app.Spec.Ports[1]); got != 90 {
		t.Errorf("ServicePort: got %d, want 90", got)
	}
}

func TestRoutePaths(t *testing.T) {
	app := application(t, `ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9000}]`)
	for _, test := range []struct {
		name  string
		route v1.Route
		want  []v1.RoutePath
	}{
		{"no paths", v1.Route{}, []v1.RoutePath{{Path: "/", PathType: "Prefix", Port: "http"}}},
		{"silent path", v1.Route{Paths: []v1.RoutePath{{}}}, []v1.RoutePath{{Path: "/", PathType: "Prefix", Port: "http"}}},
		{"full path", v1.Route{Paths: []v1.RoutePath{{Path: "/admin", PathType: "Exact", Port: "admin"}}},
			[]v1.RoutePath{{Path: "/admin", PathType: "Exact", Port: "admin"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, render.RoutePaths(app, test.route)); diff != "" {
				t.Errorf("RoutePaths (-want +got):\n%s", diff)
			}
		})
	}
}
