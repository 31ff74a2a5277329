// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// everyReference has a child of each kind that refers to another one.
const everyReference = `
ports: [{name: http, containerPort: 8080}]
autoscaling: {minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 80}
config: {mountPath: /etc/web, data: {a: '1'}}
networkPolicy: {}
monitoring: {interval: 30s}
routes:
- {name: public, type: Ingress, hostnames: [web.example.com]}
- {name: admin, type: HTTPRoute, hostnames: [admin.example.com], parentRefs: [{name: shared}], tls: {redirect: true}}
`

// dependents are the kinds that refer to a child, and so on.
var dependents = map[child.Kind][]child.Kind{
	child.ServiceAccount: {child.ControllerRevision, child.Deployment, child.HorizontalPodAutoscaler},
	child.ConfigMap:      {child.ControllerRevision, child.Deployment, child.HorizontalPodAutoscaler},
	child.Deployment:     {child.HorizontalPodAutoscaler},
	child.Service:        {child.Ingress, child.HTTPRoute, child.HTTPRoute, child.ServiceMonitor},
}

// kindsWith are the kinds of the steps with the action, in order.
func kindsWith(steps []plan.Step, action plan.Action) []child.Kind {
	var kinds []child.Kind
	for _, s := range steps {
		if s.Action == action {
			kinds = append(kinds, s.Ref.Kind)
		}
	}
	return kinds
}

// foreign returns the snapshot in which the child of that kind belongs to another controller.
func foreign(t *testing.T, snapshot child.Snapshot, kind child.Kind) child.Snapshot {
	t.Helper()
	for r, live := range snapshot.Children {
		if r.Kind == kind {
			live.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Other", Name: "other", UID: "other", Controller: new(true)}})
			return snapshot
		}
	}
	t.Fatalf("there is no %s", kind)
	return snapshot
}

// A new Application writes nothing that refers to an object of others.
func TestNothingRefersToForeignObjects(t *testing.T) {
	for _, kind := range child.AllKinds() {
		t.Run(kind.Kind, func(t *testing.T) {
			snapshot := foreign(t, settledOptional(t, everyReference), kind)
			for r := range snapshot.Children {
				if r.Kind != kind {
					delete(snapshot.Children, r)
				}
			}
			steps := compute(t, snapshot)
			if diff := cmp.Diff(dependents[kind], kindsWith(steps, plan.WaitDependency)); diff != "" {
				t.Errorf("what waits (-want +got):\n%s\nof %q", diff, lines(steps))
			}
		})
	}
}

// What is live stays as it is, changed or not. Only an autoscaler whose Deployment is still its own goes on.
func TestLiveChildrenOfForeignObjectsStay(t *testing.T) {
	for kind, want := range dependents {
		for what, spec := range map[string]string{"unchanged": everyReference, "changed": everyReference + "env: [{name: A, value: b}]"} {
			t.Run(kind.Kind+"/"+what, func(t *testing.T) {
				snapshot := foreign(t, settledOptional(t, everyReference), kind)
				snapshot.Application = application(t, spec)
				snapshot.Application.Labels = map[string]string{"team": "shop"} // Every child gets it.
				if kind == child.ServiceAccount || kind == child.ConfigMap {
					want = []child.Kind{child.ControllerRevision, child.Deployment}
				}
				steps := compute(t, snapshot)
				if diff := cmp.Diff(want, kindsWith(steps, plan.WaitDependency)); diff != "" {
					t.Errorf("what waits (-want +got):\n%s\nof %q", diff, lines(steps))
				}
			})
		}
	}
}

// A new autoscaler waits for its Deployment to be written, even if that is there.
func TestNewAutoscalerWaitsForItsDeployment(t *testing.T) {
	snapshot := foreign(t, settled(t, application(t, "replicas: 0")), child.ServiceAccount)
	snapshot.Application = application(t, autoscaling)
	steps := compute(t, snapshot)
	want := []child.Kind{child.ControllerRevision, child.Deployment, child.HorizontalPodAutoscaler}
	if diff := cmp.Diff(want, kindsWith(steps, plan.WaitDependency)); diff != "" {
		t.Errorf("what waits (-want +got):\n%s\nof %q", diff, lines(steps))
	}
	if s := step(t, steps, ref(child.Deployment)); s.HandOver != nil {
		t.Errorf("the Deployment hands over %d", *s.HandOver)
	}
	// The Deployment is there; and without the labels, as an ejection leaves it, another one may be.
	unlabelled := foreign(t, settled(t, application(t, autoscaling)), child.ServiceAccount)
	delete(unlabelled.Children, ref(child.Deployment))
	delete(unlabelled.Children, ref(child.HorizontalPodAutoscaler))
	for _, steps := range [][]plan.Step{steps, compute(t, unlabelled)} {
		if s := step(t, steps, ref(child.HorizontalPodAutoscaler)); s.Reason != "it refers to Deployment web, which waits too" {
			t.Errorf("the autoscaler waits: %s", s.Reason)
		}
	}
}

// What is about to be written proves itself by its result.
func TestUnowned(t *testing.T) {
	target := ref(child.Service)
	dependent := plan.Step{Action: plan.Create, Ref: ref(child.Ingress), Needs: []child.Ref{target}}
	there := &appsv1.Deployment{}
	resource := schema.GroupResource{Resource: "services"}
	for _, test := range []struct {
		name   string
		action plan.Action
		live   child.Object
		err    error
		waits  bool
	}{
		{"created", plan.Create, nil, nil, false},
		{"not created, the name may be taken", plan.Create, nil, apierrors.NewForbidden(resource, "web", errors.New("exceeded quota")), true},
		{"met an object of others", plan.NotOwned, nil, nil, true},
		{"applied", plan.Apply, there, nil, false},
		{"denied, but there", plan.Apply, there, apierrors.NewForbidden(resource, "web", errors.New("denied")), false},
		{"another object by now", plan.Apply, there, apierrors.NewConflict(resource, "web", errors.New("uid")), true},
		{"gone by now", plan.Apply, there, apierrors.NewNotFound(resource, "web"), true},
		{"on its way out", plan.WaitDeletion, nil, nil, false},
		{"contended", plan.Backoff, there, nil, false},
		{"contended, and gone", plan.Backoff, nil, nil, true},
		{"waits, and is there", plan.WaitDependency, there, nil, false},
		{"waits, and is not there", plan.WaitDependency, nil, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := plan.Result{Step: plan.Step{Action: test.action, Ref: target, Live: test.live}, Err: test.err}
			if _, waits := dependent.Unowned([]plan.Result{result}); waits != test.waits {
				t.Errorf("it waits: %t, want %t", waits, test.waits)
			}
		})
	}
}

// An ordinary Application needs nothing but what its own steps bring.
func TestNeedsAreBroughtBefore(t *testing.T) {
	steps := compute(t, child.Snapshot{Application: application(t, everyReference), Unavailable: map[child.Kind]child.Unavailable{}})
	brought := map[child.Ref]bool{}
	for _, s := range steps {
		for _, need := range s.Needs {
			if !brought[need] {
				t.Errorf("%s comes before %s, which it refers to", s.Ref, need)
			}
		}
		brought[s.Ref] = true
	}
	if got := step(t, steps, child.Ref{Kind: child.Deployment, Namespace: "shop", Name: "web"}).Needs; len(got) != 2 {
		t.Errorf("the Deployment needs %v", got)
	}
}
