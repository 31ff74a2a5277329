// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetDefaults(t *testing.T) {
	get := func(path string) *Probe { return &Probe{HTTPGet: &HTTPGetAction{Path: path}} }
	for _, test := range []struct {
		name       string
		spec, want ApplicationSpec
	}{
		{"nothing to do", ApplicationSpec{Image: "web:1"}, ApplicationSpec{Image: "web:1"}},
		{
			"host names are lower-cased where they stand",
			ApplicationSpec{Routes: []Route{{Hostnames: []string{"Web.Example.COM", "*.Example.com"}}, {Hostnames: []string{"api.example.com"}}}},
			ApplicationSpec{Routes: []Route{{Hostnames: []string{"web.example.com", "*.example.com"}}, {Hostnames: []string{"api.example.com"}}}},
		},
		{
			"paths of routes get their slash, and an empty one is the schema's to default",
			ApplicationSpec{Routes: []Route{{Paths: []RoutePath{{Path: "login"}, {Path: "/admin"}, {}}}}},
			ApplicationSpec{Routes: []Route{{Paths: []RoutePath{{Path: "/login"}, {Path: "/admin"}, {}}}}},
		},
		{
			"paths of probes get their slash; the primary port stays unsaid",
			ApplicationSpec{Ports: []ApplicationPort{{Name: "http", ContainerPort: 8080}}, LivenessProbe: get("live"), ReadinessProbe: get("/ready"), StartupProbe: get("")},
			ApplicationSpec{Ports: []ApplicationPort{{Name: "http", ContainerPort: 8080}}, LivenessProbe: get("/live"), ReadinessProbe: get("/ready"), StartupProbe: get("")},
		},
		{
			"other probes",
			ApplicationSpec{LivenessProbe: &Probe{TCPSocket: &TCPSocketAction{}}, ReadinessProbe: &Probe{GRPC: &GRPCAction{}}},
			ApplicationSpec{LivenessProbe: &Probe{TCPSocket: &TCPSocketAction{}}, ReadinessProbe: &Probe{GRPC: &GRPCAction{}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := &Application{Spec: test.spec}
			for _, time := range []string{"first", "second"} {
				SetDefaults(application)
				if diff := cmp.Diff(test.want, application.Spec); diff != "" {
					t.Errorf("the %s time (-want +got):\n%s", time, diff)
				}
			}
		})
	}
}
