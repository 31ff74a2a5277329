// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/revision"
)

func TestEffectOf(t *testing.T) {
	class := func(isDefault bool, spec v1.ApplicationClassSpec) Rules {
		c := &v1.ApplicationClass{Spec: spec}
		c.Name = "standard"
		if isDefault {
			c.Annotations = map[string]string{v1.AnnotationDefaultClass: "true"}
		}
		return Rules{Classes: []*v1.ApplicationClass{c}}
	}
	limit := func(most int32) v1.ApplicationClassSpec {
		return v1.ApplicationClassSpec{Limits: &v1.ApplicationLimits{MaxReplicas: &most}}
	}
	priority := v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{PriorityClassName: "low"}}
	rollback := v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{Rollback: &v1.DefaultRollback{Policy: v1.RollbackOnFailure}}}
	routes := v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{TLS: &v1.RouteTLSDefaults{}}}}
	policy := v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{NetworkPolicy: &v1.NetworkPolicy{}}}
	for _, tc := range []struct {
		name          string
		change        func(*v1.ApplicationSpec)
		before, after Rules
		want          Effect // Without the errors.
		message       string
		stays         string
	}{
		{name: "nothing that concerns it", before: class(false, limit(9)), after: class(false, limit(8))},
		{name: "a tighter limit", before: class(false, limit(9)), after: class(false, limit(4)), message: `spec.replicas: Invalid value: 6: ApplicationClass "standard" allows at most 4`},
		{name: "refused before", before: class(false, limit(5)), after: class(false, limit(4)), stays: `spec.replicas: Invalid value: 6: ApplicationClass "standard" allows at most 4`},
		{name: "refused before, for the same reason", before: class(false, limit(4)), after: class(false, v1.ApplicationClassSpec{Limits: limit(4).Limits, Defaults: priority.Defaults}), want: Effect{Unchanged: true}, stays: `spec.replicas: Invalid value: 6: ApplicationClass "standard" allows at most 4`},
		{name: "allowed again", before: class(false, limit(4)), after: class(false, limit(9))},
		{name: "another default", before: class(false, v1.ApplicationClassSpec{}), after: class(false, priority), want: Effect{NewPods: true}},
		{name: "a default that is not about pods", before: class(false, v1.ApplicationClassSpec{}), after: class(false, rollback), want: Effect{NewDefaults: true}},
		{
			name: "a default that it does not take", before: class(false, v1.ApplicationClassSpec{}), after: class(false, priority),
			change: func(s *v1.ApplicationSpec) { s.PriorityClassName = "high" },
		},
		{
			name: "suspended", before: class(false, limit(9)), after: class(false, limit(4)),
			change: func(s *v1.ApplicationSpec) { s.ReconcilePolicy = v1.ReconcileSuspend },
		},
		{
			name: "a default under Observe", before: class(false, v1.ApplicationClassSpec{}), after: class(false, priority),
			change: func(s *v1.ApplicationSpec) { s.ReconcilePolicy = v1.ReconcileObserve },
		},
		{
			name: "a tighter limit under Observe", before: class(false, limit(9)), after: class(false, limit(4)), message: `spec.replicas: Invalid value: 6: ApplicationClass "standard" allows at most 4`,
			change: func(s *v1.ApplicationSpec) { s.ReconcilePolicy = v1.ReconcileObserve },
		},
		{
			name: "it becomes the default", before: class(false, limit(4)), after: class(true, limit(4)),
			change: func(s *v1.ApplicationSpec) { s.ClassName = "" }, message: `spec.replicas: Invalid value: 6: ApplicationClass "standard" allows at most 4`,
		},
		{
			name: "it is the default no more", before: class(true, priority), after: class(false, priority),
			change: func(s *v1.ApplicationSpec) { s.ClassName = "" }, want: Effect{NewPods: true},
		},
		{
			name: "TLS of routes", before: class(false, v1.ApplicationClassSpec{}), after: class(false, routes), want: Effect{NewRoutes: true},
			change: func(s *v1.ApplicationSpec) {
				s.Ports = []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}}
				s.Routes = []v1.Route{{Name: "public", Hostnames: []string{"a.example.com"}}}
			},
		},
		{name: "TLS of routes that it does not have", before: class(false, v1.ApplicationClassSpec{}), after: class(false, routes)},
		{name: "a policy", before: class(false, v1.ApplicationClassSpec{}), after: class(false, policy), want: Effect{NewPolicy: &v1.NetworkPolicy{}}},
		{name: "no policy any more", before: class(false, policy), after: class(false, priority), want: Effect{LosesPolicy: true, NewPods: true}},
		{
			name: "a policy that it does not take", before: class(false, policy), after: class(false, priority),
			change: func(s *v1.ApplicationSpec) { s.NetworkPolicy = &v1.NetworkPolicy{} }, want: Effect{NewPods: true},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := &v1.Application{Spec: v1.ApplicationSpec{Image: "ghcr.io/acme/web:1", ClassName: "standard", Replicas: new(int32(6))}}
			a.Namespace, a.Name = "shop", "web"
			if tc.change != nil {
				tc.change(&a.Spec)
			}
			got := EffectOf(a, tc.before, tc.after, validation.Options{}, revision.SamePods)
			message, stays := "", ""
			if len(got.Stalls) > 0 {
				message, got.Stalls = got.Stalls[0].Error(), nil
			}
			if len(got.Stays) > 0 {
				stays, got.Stays = got.Stays[0].Error(), nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || message != tc.message || stays != tc.stays {
				t.Errorf("the error is %q, want %q; the one that stays is %q, want %q; effect (-want +got):\n%s", message, tc.message, stays, tc.stays, diff)
			}
		})
	}
}

// TestEffectOnRefused: an Application that a new default class refused at once has never taken its defaults, so it cannot lose them.
func TestEffectOnRefused(t *testing.T) {
	spec := v1.ApplicationClassSpec{
		Defaults: &v1.ApplicationDefaults{NetworkPolicy: &v1.NetworkPolicy{}, PriorityClassName: "low"},
		Limits:   &v1.ApplicationLimits{MaxReplicas: new(int32(4))},
	}
	of := func(isDefault string) Rules {
		c := &v1.ApplicationClass{Spec: spec}
		c.Name, c.Annotations = "standard", map[string]string{v1.AnnotationDefaultClass: isDefault}
		return Rules{Classes: []*v1.ApplicationClass{c}}
	}
	for name, test := range map[string]struct {
		applied *v1.AppliedClass
		want    Effect
	}{
		"never taken": {want: Effect{Recovers: true}},
		"taken before": {
			applied: &v1.AppliedClass{Name: "standard", Defaults: spec.Defaults},
			want:    Effect{Recovers: true, LosesPolicy: true},
		},
	} {
		a := &v1.Application{Spec: v1.ApplicationSpec{Image: "ghcr.io/acme/web:1", Replicas: new(int32(6))}}
		a.Namespace, a.Name, a.Status.Class = "shop", "web", test.applied
		a.Status.Revision = &v1.RevisionStatus{Current: 1}
		a.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonClassLimitExceeded}}
		if diff := cmp.Diff(test.want, EffectOf(a, of("true"), of("false"), validation.Options{}, revision.SamePods)); diff != "" {
			t.Errorf("%s: effect (-want +got):\n%s", name, diff)
		}
	}
	// Once a wider limit accepts it, it takes them.
	wider := of("true")
	wider.Classes[0].Spec.Limits = nil
	a := &v1.Application{Spec: v1.ApplicationSpec{Image: "ghcr.io/acme/web:1", Replicas: new(int32(6))}}
	a.Namespace, a.Name = "shop", "web"
	a.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonClassLimitExceeded}}
	if diff := cmp.Diff(Effect{Recovers: true}, EffectOf(a, of("true"), wider, validation.Options{}, revision.SamePods)); diff != "" {
		t.Errorf("allowed for the first time: effect (-want +got):\n%s", diff)
	}
	a.Status.Revision = &v1.RevisionStatus{Current: 1}
	want := Effect{Recovers: true, NewPolicy: &v1.NetworkPolicy{}}
	if diff := cmp.Diff(want, EffectOf(a, of("true"), wider, validation.Options{}, revision.SamePods)); diff != "" {
		t.Errorf("allowed again: effect (-want +got):\n%s", diff)
	}
}
