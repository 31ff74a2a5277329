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
func TestWithhold(t *testing.T) {
	for _, test := range []struct {
		name   string
		happen func(child.Snapshot)
		// withheld are the steps that become Await.
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
			steps := compute(t, snapshot)
			if diff := cmp.Diff(lines(steps), lines(plan.Withhold(steps, ""))); diff != "" {
				t.Errorf("steps where nothing is missing (-want +got):\n%s", diff)
			}
			var withheld []child.Kind
			got := plan.Withhold(steps, missing)
			for i, step := range got {
				if step.Action != steps[i].Action {
					withheld = append(withheld, step.Ref.Kind)
					if step.Action != plan.Await || step.Reason != missing {
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
