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
		{"nothing", underWay, func(*v1.ApplicationStatus) {}, Same},
		{"nil and empty", v1.ApplicationStatus{}, func(s *v1.ApplicationStatus) {
			s.URLs, s.Resources, s.Conditions = []string{}, []v1.ResourceStatus{}, []metav1.Condition{}
		}, Same},
		{"order of conditions and resources", ready, func(s *v1.ApplicationStatus) {
			s.Conditions, s.Resources = reversed(s.Conditions), reversed(s.Resources)
		}, Same},
		{"transition times", ready, func(s *v1.ApplicationStatus) {
			for i := range s.Conditions {
				s.Conditions[i].LastTransitionTime = metav1.NewTime(noon.Add(time.Hour))
			}
		}, Same},
		{"desired replicas", underWay, func(s *v1.ApplicationStatus) { s.DesiredReplicas++ }, Soon},
		{"replicas", underWay, func(s *v1.ApplicationStatus) { s.Replicas++ }, Soon},
		{"updated replicas", underWay, func(s *v1.ApplicationStatus) { s.UpdatedReplicas++ }, Soon},
		{"ready replicas", underWay, func(s *v1.ApplicationStatus) { s.ReadyReplicas++ }, Soon},
		{"available replicas", underWay, func(s *v1.ApplicationStatus) { s.AvailableReplicas++ }, Soon},
		{"message of a condition", underWay, func(s *v1.ApplicationStatus) { condition(s, v1.ConditionProgressing).Message = "x" }, Soon},
		{"message of a resource", underWay, func(s *v1.ApplicationStatus) { s.Resources[0].Message = "x" }, Soon},
		{"replicas at rest", ready, func(s *v1.ApplicationStatus) { s.Replicas++ }, Soon},
		{"message at rest", ready, func(s *v1.ApplicationStatus) { s.Resources[0].Message = "x" }, Soon},
		{"generation", underWay, func(s *v1.ApplicationStatus) { s.ObservedGeneration++ }, Soon},
		{"generation at rest", ready, func(s *v1.ApplicationStatus) { s.ObservedGeneration++ }, Now},
		{"generation while stalled", stalled, func(s *v1.ApplicationStatus) { s.ObservedGeneration++ }, Now},
		{"replicas while stalled", stalled, func(s *v1.ApplicationStatus) { s.Replicas++ }, Soon},
		{"generation of a condition", underWay, func(s *v1.ApplicationStatus) { s.Conditions[1].ObservedGeneration++ }, Soon},
		{"selector", underWay, func(s *v1.ApplicationStatus) { s.Selector = "" }, Soon},
		{"image", underWay, func(s *v1.ApplicationStatus) { s.Image = "x" }, Soon},
		{"image at rest", ready, func(s *v1.ApplicationStatus) { s.Image = "x" }, Now},
		{"a problem", underWay, func(s *v1.ApplicationStatus) { s.Problems = []v1.Problem{{Reason: v1.ReasonCrashLooping}} }, Soon},
		{"no problems, and none", ready, func(s *v1.ApplicationStatus) { s.Problems = []v1.Problem{} }, Same},
		{"a URL more", underWay, func(s *v1.ApplicationStatus) { s.URLs = []string{"x"} }, Soon},
		{"order of URLs", ready, func(s *v1.ApplicationStatus) { s.URLs = reversed(s.URLs) }, Now},
		{"status", underWay, func(s *v1.ApplicationStatus) { condition(s, v1.ConditionAvailable).Status = "False" }, Soon},
		{"ready no more", ready, func(s *v1.ApplicationStatus) { condition(s, v1.ConditionReady).Status = "False" }, Now},
		{"reason", underWay, func(s *v1.ApplicationStatus) { condition(s, v1.ConditionReady).Reason = "x" }, Soon},
		{"a condition less", underWay, func(s *v1.ApplicationStatus) { s.Conditions = s.Conditions[1:] }, Soon},
		{"stalled", underWay, func(s *v1.ApplicationStatus) { s.Conditions[1].Type = v1.ConditionStalled }, Now},
		{"state of a resource", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].State = v1.ResourceFailed }, Now},
		{"UID of a resource", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].UID = "x" }, Soon},
		{"another resource", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].Name = "x" }, Soon},
		{"a resource of the same name in another group", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].Group = "x" }, Soon},
		{"a resource of the same name of another kind", underWay, func(s *v1.ApplicationStatus) { s.Resources[1].Kind = "x" }, Soon},
		{"a resource less", underWay, func(s *v1.ApplicationStatus) { s.Resources = s.Resources[:1] }, Soon},
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
	for urgency, want := range map[Urgency]string{Same: "Same", Soon: "Soon", Now: "Now"} {
		if urgency.String() != want {
			t.Errorf("%d is %s", urgency, urgency)
		}
	}
}
