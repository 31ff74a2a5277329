// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
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
	for _, tc := range []struct {
		name          string
		change        func(*v1.ApplicationSpec)
		before, after Rules
		want          Effect
		message       string
	}{
		{name: "nothing that concerns it", before: class(false, limit(9)), after: class(false, limit(8)), want: NoEffect},
		{name: "a tighter limit", before: class(false, limit(9)), after: class(false, limit(4)), want: Stalls, message: `spec.replicas: Invalid value: 6: ApplicationClass "standard" allows at most 4`},
		{name: "refused before", before: class(false, limit(5)), after: class(false, limit(4)), want: NoEffect},
		{name: "allowed again", before: class(false, limit(4)), after: class(false, limit(9)), want: NoEffect},
		{name: "another default", before: class(false, v1.ApplicationClassSpec{}), after: class(false, priority), want: NewDefaults},
		{
			name: "a default that it does not take", before: class(false, v1.ApplicationClassSpec{}), after: class(false, priority),
			change: func(s *v1.ApplicationSpec) { s.PriorityClassName = "high" }, want: NoEffect,
		},
		{
			name: "suspended", before: class(false, limit(9)), after: class(false, limit(4)),
			change: func(s *v1.ApplicationSpec) { s.ReconcilePolicy = v1.ReconcileSuspend }, want: NoEffect,
		},
		{
			name: "it becomes the default", before: class(false, limit(4)), after: class(true, limit(4)),
			change: func(s *v1.ApplicationSpec) { s.ClassName = "" }, want: Stalls, message: `spec.replicas: Invalid value: 6: ApplicationClass "standard" allows at most 4`,
		},
		{
			name: "it is the default no more", before: class(true, priority), after: class(false, priority),
			change: func(s *v1.ApplicationSpec) { s.ClassName = "" }, want: NewDefaults,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := &v1.Application{Spec: v1.ApplicationSpec{Image: "ghcr.io/acme/web:1", ClassName: "standard", Replicas: new(int32(6))}}
			a.Namespace, a.Name = "shop", "web"
			if tc.change != nil {
				tc.change(&a.Spec)
			}
			got, errs := EffectOf(a, tc.before, tc.after, validation.Options{})
			message := ""
			if len(errs) > 0 {
				message = errs[0].Error()
			}
			if got != tc.want || message != tc.message {
				t.Errorf("effect %d (%s), want %d (%s)", got, message, tc.want, tc.message)
			}
		})
	}
}
