// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// fullSpec needs a child of every kind.
const fullSpec = `
ports: [{name: http, containerPort: 8080}]
autoscaling: {minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 80}
config: {mountPath: /etc/web, data: {a: '1'}}
networkPolicy: {}
routes: [{name: public, hostnames: [web.example.com]}, {name: admin, hostnames: [admin.example.com]}]
`

// An autoscaler goes first, so that it changes nothing any more; everything else goes once
// nothing refers to it, in a fixed order. Children are written in the order of the rendering.
func TestOrder(t *testing.T) {
	snapshot := settled(t, application(t, fullSpec))
	snapshot.Application = application(t, `
ports: [{name: http, containerPort: 8080}]
replicas: 3
`)
	snapshot.Application.Labels = map[string]string{"team": "shop"} // Every child gets it.
	delete(snapshot.Children, ref(child.Service))
	got := []string{}
	for _, s := range compute(t, snapshot) {
		got = append(got, string(s.Action)+" "+s.Ref.Kind.Kind+" "+s.Ref.Name)
	}
	want := []string{
		"Delete HorizontalPodAutoscaler web",
		"Apply ServiceAccount web",
		"Apply ControllerRevision web-1",
		"Apply Deployment web",
		"Create Service web",
		"Apply PodDisruptionBudget web",
		"WaitDependency ConfigMap web-config", // Until no pod mounts it.
		"Delete Ingress web",
		"Delete Ingress web-admin",
		"Delete NetworkPolicy web",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestEveryKindIsCreatedAndDeleted(t *testing.T) {
	app := application(t, fullSpec)
	snapshot := child.Snapshot{Application: app}
	created := map[child.Kind]int{}
	for _, s := range compute(t, snapshot) {
		if s.Action != plan.Create || s.Live != nil || s.Drift {
			t.Errorf("step for a new Application: %+v", s)
		}
		created[s.Ref.Kind]++
	}
	for _, kind := range child.Kinds() {
		if created[kind] == 0 {
			t.Errorf("no %s is created", kind)
		}
	}

	full := settled(t, app)
	steps, err := plan.Compute(differ, plan.Input{Snapshot: full})
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != len(full.Children) {
		t.Errorf("%d steps for %d children", len(steps), len(full.Children))
	}
	for _, s := range steps {
		action, reason := plan.Delete, "the Application no longer needs it"
		switch s.Ref.Kind {
		case child.ControllerRevision:
			reason = "revisionHistoryLimit keeps only newer ones"
		case child.ServiceAccount, child.ConfigMap:
			action, reason = plan.WaitDependency, "the Deployment's pod template still uses it"
		}
		if s.Action != action || s.Live != full.Children[s.Ref] || s.Desired != nil || s.Reason != reason {
			t.Errorf("step for a child that is not rendered: %+v", s)
		}
	}
}

// What is kept is neither compared nor deleted; a kept object of somebody else is none of our business.
func TestKeptChildrenStay(t *testing.T) {
	snapshot := settled(t, application(t, ""))
	old := child.Ref{Kind: child.ControllerRevision, Namespace: "shop", Name: "web-0"}
	snapshot.Children[old] = snapshot.Children[child.Ref{Kind: child.ControllerRevision, Namespace: "shop", Name: "web-1"}]
	in := plan.Input{Snapshot: snapshot, Desired: rendered(t, snapshot.Application), Kept: map[child.Ref]bool{old: true}}
	steps, err := plan.Compute(differ, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.Action != plan.Keep || s.Ref == old {
			t.Errorf("step: %+v", s)
		}
	}
}

// What the Application does not own is none of its business, whatever its labels and name.
func TestObsoleteChildrenOfOthers(t *testing.T) {
	now := metav1.Now()
	for _, test := range []struct {
		name   string
		change func(*corev1.ConfigMap)
		want   []string
	}{
		{"its own", func(*corev1.ConfigMap) {}, []string{"Delete ConfigMap shop/web-config: the Application no longer needs it"}},
		{"of nobody", func(c *corev1.ConfigMap) { c.OwnerReferences = nil }, nil},
		{"of somebody else", func(c *corev1.ConfigMap) { c.OwnerReferences[0].UID = "other" }, nil},
		{"not its controller", func(c *corev1.ConfigMap) { c.OwnerReferences[0].Controller = nil }, nil},
		{"being deleted", func(c *corev1.ConfigMap) { c.DeletionTimestamp = &now }, nil},
		{"labels do not matter", func(c *corev1.ConfigMap) { c.Labels = nil }, []string{"Delete ConfigMap shop/web-config: the Application no longer needs it"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, "config: {mountPath: /etc/web, data: {a: '1'}}"))
			known(snapshot)
			test.change(child.Get[*corev1.ConfigMap](snapshot, child.ConfigMap, "web-config"))
			// Everything but the ConfigMap's mount is the same; look at what is rendered no more.
			snapshot.Application = application(t, "")
			for r := range snapshot.Children {
				if r.Kind != child.ConfigMap {
					delete(snapshot.Children, r)
				}
			}
			var deletes []plan.Step
			for _, s := range compute(t, snapshot) {
				if s.Action != plan.Create {
					deletes = append(deletes, s)
				}
			}
			wantSteps(t, deletes, test.want...)
		})
	}
}

// An obsolete child of the kind that others hold on to is deleted whether it is contended or not:
// nobody undoes a deletion by changing a field.
func TestObsoleteChildIsNotHeld(t *testing.T) {
	snapshot := settled(t, application(t, webSpec))
	snapshot.Application = application(t, "replicas: 2")
	steps := compute(t, snapshot, ref(child.Service))
	if s := step(t, steps, ref(child.Service)); s.Action != plan.Delete {
		t.Errorf("the Service's step is %s", s.Action)
	}
}
