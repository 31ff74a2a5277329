// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

const missing = "Secret db is missing"

// What would start other pods than those that run waits; all else is done.
func TestMissingDependency(t *testing.T) {
	for _, test := range []struct {
		name   string
		happen func(child.Snapshot)
		// withheld are the steps that become WaitDependency.
		withheld []child.Kind
	}{
		{"nothing to do", func(child.Snapshot) {}, nil},
		{"a new Deployment", func(s child.Snapshot) { delete(s.Children, ref(child.Deployment)) }, []child.Kind{child.Deployment}},
		{
			"a new autoscaler with it",
			func(s child.Snapshot) {
				delete(s.Children, ref(child.Deployment))
				delete(s.Children, ref(child.HorizontalPodAutoscaler))
				s.Application.Status.Resources = nil
			},
			[]child.Kind{child.Deployment, child.HorizontalPodAutoscaler},
		},
		{
			"an autoscaler that others deleted",
			func(s child.Snapshot) {
				delete(s.Children, ref(child.HorizontalPodAutoscaler))
				s.Application.Spec.Image = "web:2"
			},
			[]child.Kind{child.Deployment},
		},
		{"another pod template", func(s child.Snapshot) { s.Application.Spec.Image = "web:2" }, []child.Kind{child.Deployment}},
		{"a pause went away", func(s child.Snapshot) {
			deployment := live[*appsv1.Deployment](s, child.Deployment)
			deployment.Spec.Paused, deployment.Annotations[v1.AnnotationRenderedHash] = true, "another"
		}, []child.Kind{child.Deployment}},
		{"a field went away", func(s child.Snapshot) { s.Application.Spec.Env = nil }, []child.Kind{child.Deployment}},
		{"the same pods, and more patience with them", func(s child.Snapshot) { s.Application.Spec.ProgressDeadlineSeconds = new(int32(5)) }, nil},
		{
			"others changed the pods",
			func(s child.Snapshot) {
				live[*appsv1.Deployment](s, child.Deployment).Spec.Template.Spec.Containers[0].Image = "theirs"
			},
			nil,
		},
		{
			"another revision of the same template",
			func(s child.Snapshot) {
				live[*appsv1.Deployment](s, child.Deployment).Annotations[v1.AnnotationRevision] = "web-0"
				live[*appsv1.Deployment](s, child.Deployment).Annotations[v1.AnnotationRenderedHash] = "another"
				delete(s.Children, child.Ref{Kind: child.ControllerRevision, Namespace: "shop", Name: "web-1"})
			},
			[]child.Kind{child.ControllerRevision, child.Deployment},
		},
		{"another child", func(s child.Snapshot) { live[*corev1.Service](s, child.Service).Spec.Ports = nil }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			app := application(t, `
ports: [{name: http, containerPort: 8080}]
env: [{name: A, value: "1"}]
autoscaling: {minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 70}`)
			snapshot := settled(t, app)
			known(snapshot)
			test.happen(snapshot)
			var withheld []child.Kind
			steps := compute(t, snapshot)
			got := computeFrom(t, plan.Input{Snapshot: snapshot, Missing: missing})
			for i, step := range got {
				if step.Action != steps[i].Action {
					withheld = append(withheld, step.Ref.Kind)
					if step.Action != plan.WaitDependency || step.Reason != missing {
						t.Errorf("%s is to %s: %s", step.Ref, step.Action, step.Reason)
					}
				}
			}
			if diff := cmp.Diff(test.withheld, withheld); diff != "" {
				t.Errorf("withheld (-want +got):\n%s\nof %v", diff, lines(steps))
			}
		})
	}
}

// Scaling goes on while the pod template waits, where the Application sets the number.
func TestScaleWhileTheTemplateWaits(t *testing.T) {
	const other = "\nenv: [{name: A, value: '2'}]"
	for _, test := range []struct {
		name          string
		before, after string
		replicas      int32
		scale         *int32
	}{
		{"down to zero", "replicas: 3", "replicas: 0", 3, new(int32(0))},
		{"up", "replicas: 3", "replicas: 5", 3, new(int32(5))},
		{"others changed it too", "replicas: 3", "replicas: 3", 7, new(int32(3))},
		{"autoscaling ends", autoscaling, "replicas: 2", 6, new(int32(2))},
		{"the same number", "replicas: 3", "replicas: 3", 3, nil},
		{"autoscaling begins", "replicas: 3", autoscaling, 3, nil},
		{"autoscaling begins for what is asleep", "replicas: 0", autoscaling, 0, nil},
		{"autoscaled", autoscaling, autoscaling, 6, nil},
		{"a number that others set", "", "", 6, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, test.before))
			live[*appsv1.Deployment](snapshot, child.Deployment).Spec.Replicas = new(test.replicas)
			snapshot.Application = application(t, test.after+other)
			got := step(t, computeFrom(t, plan.Input{Snapshot: snapshot, Missing: missing}), ref(child.Deployment))
			want := plan.WaitDependency
			if test.scale != nil {
				want = plan.Scale
			}
			if got.Action != want || deref(got.HandOver) != deref(test.scale) || got.Reason != missing || got.Drift {
				t.Errorf("the step is %s to %v, drift %t: %s; want %s to %v", got.Action, deref(got.HandOver), got.Drift, got.Reason, want, deref(test.scale))
			}
		})
	}
}

// A rival that sets the number back is drift, and may be left alone for a while.
func TestScalingIsContended(t *testing.T) {
	snapshot := settled(t, application(t, "replicas: 3"))
	snapshot.Application = application(t, "{replicas: 0, env: [{name: A, value: '2'}]}")
	in := plan.Input{Snapshot: snapshot, Missing: missing}
	first := step(t, computeFrom(t, in), ref(child.Deployment))
	in.LastApplied = map[child.Ref]string{ref(child.Deployment): first.Rendering()}
	if again := step(t, computeFrom(t, in), ref(child.Deployment)); again.Action != plan.Scale || !again.Drift {
		t.Errorf("the second step is %s, drift %t", again.Action, again.Drift)
	}
	in.InBackoff = map[child.Ref]bool{ref(child.Deployment): true}
	if held := step(t, computeFrom(t, in), ref(child.Deployment)); held.Action != plan.Backoff {
		t.Errorf("the held step is %s", held.Action)
	}
	// What was brought about is the number. The template is still to come, and still waits.
	in.InBackoff, in.Missing = nil, ""
	if whole := step(t, computeFrom(t, in), ref(child.Deployment)); whole.Action != plan.Apply || whole.Drift {
		t.Errorf("the step with nothing missing is %s, drift %t", whole.Action, whole.Drift)
	}
}
