// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

var start = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

// marked is a class with the annotation, made so many seconds after the start.
func marked(name string, after int) *v1.ApplicationClass {
	class := &v1.ApplicationClass{}
	class.Name, class.Generation = name, 1
	class.Annotations = map[string]string{v1.AnnotationDefaultClass: "true"}
	class.CreationTimestamp = metav1.NewTime(start.Add(time.Duration(after) * time.Second))
	return class
}

func TestDefault(t *testing.T) {
	plain, disabled, going := marked("plain", 9), marked("disabled", 9), marked("going", 9)
	plain.Annotations = nil
	disabled.Annotations[v1.AnnotationDefaultClass] = "false"
	going.DeletionTimestamp = &metav1.Time{Time: start}
	for _, test := range []struct {
		name    string
		classes []*v1.ApplicationClass
		want    string
	}{
		{"no class", nil, ""},
		{"none is marked", []*v1.ApplicationClass{plain, disabled}, ""},
		{"one is marked", []*v1.ApplicationClass{plain, marked("a", 0), disabled}, "a"},
		{"the newer one", []*v1.ApplicationClass{marked("a", 0), marked("b", 5), marked("c", 3)}, "b"},
		{"of the same second the first by name", []*v1.ApplicationClass{marked("b", 5), marked("a", 5)}, "a"},
		{"one that is being deleted is none", []*v1.ApplicationClass{going, marked("a", 0)}, "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 { // The order makes no difference.
				name := ""
				if chosen, undecided := Default(test.classes, Namespace{Name: "shop"}); undecided != nil {
					t.Errorf("undecided about %s", undecided.Name)
				} else if chosen != nil {
					name = chosen.Name
				}
				if name != test.want {
					t.Errorf("chosen is %q, want %q", name, test.want)
				}
				slices.Reverse(test.classes)
			}
		})
	}
}

func TestResolveAndValidate(t *testing.T) {
	limited := func(change func(*v1.ApplicationClassSpec)) *v1.ApplicationClass {
		class := marked("standard", 0)
		change(&class.Spec)
		return class
	}
	strict := limited(func(s *v1.ApplicationClassSpec) { s.Limits = &v1.ApplicationLimits{MaxReplicas: new(int32(3))} })
	for _, test := range []struct {
		name        string
		application v1.ApplicationSpec
		class       *v1.ApplicationClass
		applied     string
		reason      string
		message     string
	}{
		{name: "no class", application: v1.ApplicationSpec{Image: "web:1"}},
		{name: "the default", application: v1.ApplicationSpec{Image: "web:1"}, class: strict, applied: "standard"},
		{name: "by name", application: v1.ApplicationSpec{Image: "web:1", ClassName: "standard"}, class: strict, applied: "standard"},
		{
			name: "a missing one is not replaced by the default", application: v1.ApplicationSpec{Image: "web:1", ClassName: "gold"}, class: strict,
			reason: v1.ReasonClassNotFound, message: `spec.className: Not found: "gold": there is no ApplicationClass of this name: name one that exists, or create it`,
		},
		{
			name: "a limit", application: v1.ApplicationSpec{Image: "web:1", Replicas: new(int32(4))}, class: strict, applied: "standard",
			reason: v1.ReasonClassLimitExceeded, message: `spec.replicas: Invalid value: 4: ApplicationClass "standard" allows at most 3`,
		},
		{
			name: "invalid goes before a limit", application: v1.ApplicationSpec{Image: "web:", Replicas: new(int32(4))}, class: strict, applied: "standard",
			reason: v1.ReasonInvalid, message: `spec.image`,
		},
		{
			name: "defaults satisfy a limit", application: v1.ApplicationSpec{Image: "web:1"}, applied: "standard",
			class: limited(func(s *v1.ApplicationClassSpec) {
				s.Defaults = new(decode[v1.ApplicationDefaults](t, `resources: {limits: {cpu: 1, memory: 1Gi}}`))
				s.Limits = &v1.ApplicationLimits{RequireResourceLimits: new(true)}
			}),
		},
		{
			name: "an invalid default", application: v1.ApplicationSpec{Image: "web:1"}, applied: "standard",
			class: limited(func(s *v1.ApplicationClassSpec) {
				s.Defaults = &v1.ApplicationDefaults{PriorityClassName: "Not A Name"}
			}),
			reason: v1.ReasonClassInvalid, message: `spec.priorityClassName: Invalid value: "Not A Name": with the defaults of ApplicationClass "standard": `,
		},
		{
			name: "an invalid default does not matter where it is not taken", application: v1.ApplicationSpec{Image: "web:1", PriorityClassName: "high"}, applied: "standard",
			class: limited(func(s *v1.ApplicationClassSpec) {
				s.Defaults = &v1.ApplicationDefaults{PriorityClassName: "Not A Name"}
			}),
		},
		{
			name: "an Application that is invalid by itself", application: v1.ApplicationSpec{Image: "web:"}, applied: "standard",
			class:  limited(func(s *v1.ApplicationClassSpec) { s.Defaults = &v1.ApplicationDefaults{PriorityClassName: "low"} }),
			reason: v1.ReasonInvalid, message: `spec.image`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := &v1.Application{Spec: test.application}
			application.Name = "web"
			var classes []*v1.ApplicationClass
			if test.class != nil {
				classes = append(classes, test.class)
			}
			resolved := Resolve(application, Rules{Classes: classes})
			applied := ""
			if resolved.Applied != nil {
				applied = resolved.Applied.Name
			}
			if applied != test.applied {
				t.Errorf("applied is %q, want %q", applied, test.applied)
			}
			errs, reason := resolved.Validate(validation.Options{})
			if reason != test.reason || (len(errs) == 0) != (reason == "") {
				t.Fatalf("reason is %q, want %q: %v", reason, test.reason, errs.ToAggregate())
			}
			if reason != "" && !strings.HasPrefix(errs[0].Error(), test.message) {
				t.Errorf("message is %s, want %s", errs[0].Error(), test.message)
			}
		})
	}
}

// TestFormerPods: the defaults of today do not reach a former revision, and an edit of the spec does not change it. So no text says that a
// default is not taken, or advises to set what the spec has.
func TestFormerPods(t *testing.T) {
	requests := func(memory string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	autoscaled := func(spec *v1.ApplicationSpec) {
		spec.Autoscaling = &v1.Autoscaling{MaxReplicas: 4, TargetCPUUtilizationPercentage: new(int32(50))}
	}
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("256Mi")}
	const (
		requires = `: Required value: ApplicationClass "gold" requires limits for cpu and memory of each container`
		needs    = "spec.autoscaling.targetCPUUtilizationPercentage: Forbidden: utilization is a share of the request"
	)
	for _, test := range []struct {
		name          string
		change        func(*v1.ApplicationSpec)
		class         v1.ApplicationClassSpec
		present, past []string
	}{
		{
			name: "its request is lower than the default limit", change: func(spec *v1.ApplicationSpec) { spec.Resources = requests("64Mi") },
			class: v1.ApplicationClassSpec{
				Defaults: &v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: limits}}, Limits: &v1.ApplicationLimits{RequireResourceLimits: new(true)},
			},
			past: []string{"spec.resources.limits[cpu]" + requires, "spec.resources.limits[memory]" + requires},
		},
		{
			name: "its request is higher than the default limit", change: func(spec *v1.ApplicationSpec) { spec.Resources = requests("1Gi") },
			class: v1.ApplicationClassSpec{
				Defaults: &v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: limits}}, Limits: &v1.ApplicationLimits{RequireResourceLimits: new(true)},
			},
			present: []string{"spec.resources.limits[memory]" + requires + "; its default of 256Mi is not taken, because your request 1Gi is higher: set a limit"},
			past:    []string{"spec.resources.limits[cpu]" + requires, "spec.resources.limits[memory]" + requires},
		},
		{
			name: "no request, and autoscaling", change: autoscaled,
			present: []string{needs + ": set resources.requests[cpu]"},
			past:    []string{needs + ", but the revision has no resources.requests[cpu]"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: v1.ApplicationSpec{Image: "example.com/web:1", ClassName: "gold"}}
			test.change(&application.Spec)
			class := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, Spec: test.class}
			resolved := Resolve(application, Rules{Classes: []*v1.ApplicationClass{class}, Namespace: Namespace{Name: "shop"}})
			present, _ := resolved.Validate(validation.Options{})
			past, _ := resolved.ValidateAs(application, validation.Options{})
			if diff := cmp.Diff(test.present, texts(present)); diff != "" {
				t.Errorf("in the spec (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.past, texts(past)); diff != "" {
				t.Errorf("in a former revision (-want +got):\n%s", diff)
			}
		})
	}
}

func texts(errs field.ErrorList) []string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}
