// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

var update = flag.Bool("update", false, "write testdata anew")

// TestRecorded compares whole Applications with those in testdata, as kubectl would show them.
func TestRecorded(t *testing.T) {
	routed := func(in *Input, _ *appsv1.Deployment) {
		in.Snapshot.Application.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"web.example.com"}}}
		in.URLs = []string{"https://web.example.com/"}
		in.Results = append(in.Results, result(plan.Keep, child.Ingress, "web", newIngress("web", true)))
	}
	foreign := result(plan.NotOwned, child.Service, "web", newService())
	foreign.Reason = "Service web exists and belongs to Gateway edge (UID 4e1c); give the Application another name"
	differs := result(plan.Apply, child.Service, "web", newService())
	differs.Fields = []string{".spec.type"}
	tests := []struct {
		file string
		in   Input
	}{
		{"ready.yaml", with(routed)},
		{"created.yaml", with(func(in *Input, _ *appsv1.Deployment) {
			in.Snapshot.Children = nil
			in.Results = []plan.Result{result(plan.Create, child.Deployment, "web", nil), result(plan.Create, child.Service, "web", nil)}
			in.Results[0].UID, in.Results[1].UID = deploymentUID, serviceUID
		})},
		{"rolling-out.yaml", with(routed, func(_ *Input, d *appsv1.Deployment) { rollingOut(d) })},
		{"deadline-exceeded.yaml", with(routed, func(_ *Input, d *appsv1.Deployment) { timedOut(d) })},
		{"image-pull-failed.yaml", with(routed, withPods(3, pulling), func(_ *Input, d *appsv1.Deployment) { rollingOut(d) })},
		{"conflict.yaml", with(routed, replace(foreign))},
		{"observed.yaml", with(routed, replace(differs), func(in *Input, _ *appsv1.Deployment) {
			in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
		})},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			application := test.in.Snapshot.Application
			application.Status = compute(test.in, noon)
			got, err := yaml.Marshal(application)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, test.file, got)
		})
	}
}

// TestRecordedForKStatus holds testdata/kstatus.yaml: every scenario as it would be stored, with
// what tools that know only kstatus (Flux, Helm, Argo CD, kubectl plugins) are to make of it. The
// integration tests ask kstatus itself; its module is kept out of this one, because it requires
// controller-runtime.
func TestRecordedForKStatus(t *testing.T) {
	type record struct {
		Scenario    string          `json:"scenario"`
		KStatus     string          `json:"kstatus"`
		Application *v1.Application `json:"application"`
	}
	records := []record{{"new, with the default status", "InProgress", newApplication()}}
	edited := newApplication()
	edited.Status = compute(settled(), noon)
	edited.Generation++
	records = append(records, record{"edited after it was ready", "InProgress", edited})
	stopped := suspendedApplication()
	stopped.Status = compute(Input{Snapshot: child.Snapshot{Application: stopped, Children: settled().Snapshot.Children}}, noon)
	records = append(records, record{"suspended after it failed", "InProgress", stopped})
	for _, s := range scenarios() {
		application := s.in.Snapshot.Application.DeepCopy()
		application.Status = compute(s.in, noon)
		records = append(records, record{s.name, s.kstatus, application})
	}
	got, err := yaml.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "kstatus.yaml", got)
}

// golden compares with a file in testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(recorded), string(got)); diff != "" {
		t.Errorf("run with -update if this is as it should be:\n%s", diff)
	}
}
