// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestCompare(t *testing.T) {
	ready := compute(routed(), noon)
	underWay := compute(with(func(_ *Input, d *appsv1.Deployment) { rollingOut(d) }), noon)
	stalled := compute(with(func(_ *Input, d *appsv1.Deployment) { timedOut(d) }), noon)
	condition := func(s *v1.ApplicationStatus, kind string) *metav1.Condition {
		return apimeta.FindStatusCondition(s.Conditions, kind)
	}
	tests := []struct {
		name   string
		old    v1.ApplicationStatus
		change func(*v1.ApplicationStatus)
		want   Urgency
	}{
		{"nothing", underWay, func(*v1.ApplicationStatus) {}, Unchanged},
		{"nil and empty", v1.ApplicationStatus{}, func(s *v1.ApplicationStatus) {
			s.URLs, s.Resources, s.Conditions = []string{}, []v1.ResourceStatus{}, []metav1.Condition{}
		}, Unchanged},
		{"order of conditions and resources", ready, func(s *v1.ApplicationStatus) {
			s.Conditions, s.Resources = reversed(s.Conditions), reversed(s.Resources)
		}, Unchanged},
		{"transition times", ready, func(s *v1.ApplicationStatus) {
			for i := range s.Conditions {
				s.Conditions[i].LastTransitionTime = metav1.NewTime(noon.Add(time.Hour))
			}
		}, Unchanged},
		{"desired replicas", underWay, func(s *v1.ApplicationStatus) { s.DesiredReplicas++ }, Batched},
		{"replicas", underWay, func(s *v1.ApplicationStatus) { s.Replicas++ }, Batched},
		{"updated replicas", underWay, func(s *v1.ApplicationStatus) { s.UpdatedReplicas++ }, Batched},
		{"ready replicas", underWay, func(s *v1.ApplicationStatus) { s.ReadyReplicas++ }, Batched},
		{"available replicas", underWay, func(s *v1.ApplicationStatus) { s.AvailableReplicas++ }, Batched},
		{"message of a condition", underWay, func(s *v1.ApplicationStatus) { condition(s, v1.ConditionProgressing).Message = "x" }, Batched},
		{"message of a resource", underWay, func(s *v1.ApplicationStatus) { s.Resources[0].Message = "x" }, Batched},
		{"replicas at rest", ready, func(s *v1.ApplicationStatus) { s.Replicas++ }, Batched},
		{"message at rest", ready, func(s *v1.ApplicationStatus) { s.Resources[0].Message = "x" }, Batched},
		{"generation", underWay, func(s *v1.ApplicationStatus) { s.ObservedGeneration++ }, Batched},
		{"generation at rest", ready, func(s *v1.ApplicationStatus) { s.ObservedGeneration++ }, Now},
		{"generation while stalled", stalled, func(s *v1.ApplicationStatus) { s.ObservedGeneration++ }, Now},
		{"replicas while stalled", stalled, func(s *v1.ApplicationStatus) { s.Replicas++ }, Batched},
		{"generation of a condition", underWay, func(s *v1.ApplicationStatus) { s.Conditions[1].ObservedGeneration++ }, Batched},
		{"selector", underWay, func(s *v1.ApplicationStatus) { s.Selector = "" }, Batched},
		{"image", underWay, func(s *v1.ApplicationStatus) { s.Image = "x" }, Batched},
		{"image at rest", ready, func(s *v1.ApplicationStatus) { s.Image = "x" }, Now},
		{"a problem", underWay, func(s *v1.ApplicationStatus) { s.Problems = []v1.Problem{{Reason: v1.ReasonCrashLooping}} }, Batched},
		{"no problems, and none", ready, func(s *v1.ApplicationStatus) { s.Problems = []v1.Problem{} }, Unchanged},
		{"a URL more", underWay, func(s *v1.ApplicationStatus) { s.URLs = []string{"x"} }, Batched},
		{"order of URLs", ready, func(s *v1.ApplicationStatus) { s.URLs = reversed(s.URLs) }, Now},
		{"status", underWay, func(s *v1.ApplicationStatus) { condition(s, v1.ConditionAvailable).Status = "False" }, Batched},
		{"ready no more", ready, func(s *v1.ApplicationStatus) { condition(s, v1.ConditionReady).Status = "False" }, Now},
		{"reason", underWay, func(s *v1.ApplicationStatus) { condition(s, v1.ConditionReady).Reason = "x" }, Batched},
		{"a condition less", underWay, func(s *v1.ApplicationStatus) { s.Conditions = s.Conditions[1:] }, Batched},
		{"stalled", underWay, func(s *v1.ApplicationStatus) { s.Conditions[1].Type = v1.ConditionStalled }, Now},
		{"state of a resource", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].State = v1.ResourceFailed }, Now},
		{"UID of a resource", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].UID = "x" }, Batched},
		{"another resource", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].Name = "x" }, Batched},
		{"a resource of the same name in another group", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].Group = "x" }, Batched},
		{"a resource of the same name of another kind", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].Kind = "x" }, Batched},
		{"a resource less", underWay, func(s *v1.ApplicationStatus) { s.Resources = s.Resources[:1] }, Batched},
		{"a resource less at rest", ready, func(s *v1.ApplicationStatus) { s.Resources = s.Resources[:1] }, Now},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			changed := test.old.DeepCopy()
			test.change(changed)
			if got := Compare(test.old, *changed); got != test.want {
				t.Errorf("Compare = %s, want %s", got, test.want)
			}
		})
	}
}

// routed is at rest, with URLs.
func routed() Input {
	in := settled()
	in.URLs = []string{"https://a.example.com/", "https://b.example.com/"}
	return in
}

func TestUrgencyString(t *testing.T) {
	for urgency, want := range map[Urgency]string{Unchanged: "Unchanged", Batched: "Batched", Now: "Now"} {
		if urgency.String() != want {
			t.Errorf("%d is %s", urgency, urgency)
		}
	}
}
