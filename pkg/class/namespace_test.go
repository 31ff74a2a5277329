// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

// selecting makes a class select the namespaces of a team.
func selecting(class *v1.ApplicationClass, team string) *v1.ApplicationClass {
	class.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": team}}
	return class
}

func unmarked(class *v1.ApplicationClass) *v1.ApplicationClass {
	class.Annotations = nil
	return class
}

func TestSelects(t *testing.T) {
	shop := Namespace{Name: "shop", Labels: map[string]string{"team": "a"}}
	unlabelled := Namespace{Name: "other"}
	unreadable := Namespace{Name: "hidden", Unreadable: "no permission"}
	broken := marked("broken", 0)
	broken.Spec.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Like"}}}
	empty := marked("empty", 0)
	empty.Spec.NamespaceSelector = &metav1.LabelSelector{}
	for _, test := range []struct {
		name      string
		class     *v1.ApplicationClass
		namespace Namespace
		want      Selection
	}{
		{"no selector", marked("any", 0), unlabelled, Selected},
		{"no selector, labels unknown", marked("any", 0), unreadable, Selected},
		{"an empty selector", empty, unlabelled, Selected},
		{"an empty selector, labels unknown", empty, unreadable, Selected},
		{"its namespace", selecting(marked("a", 0), "a"), shop, Selected},
		{"another namespace", selecting(marked("a", 0), "a"), unlabelled, NotSelected},
		{"labels unknown", selecting(marked("a", 0), "a"), unreadable, Unknown},
		{"a selector that says nothing", broken, shop, NotSelected},
	} {
		if got := Selects(test.class, test.namespace); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// An Application never has a class that does not select its namespace, or may not select it; and
// never goes without a class instead.
func TestResolveInNamespaces(t *testing.T) {
	lax, forA, forAll := unmarked(selecting(marked("lax", 0), "a")), selecting(marked("for-a", 5), "a"), marked("for-all", 1)
	a, b := Namespace{Name: "shop", Labels: map[string]string{"team": "a"}}, Namespace{Name: "evil", Labels: map[string]string{"team": "b"}}
	hidden := Namespace{Name: "hidden", Unreadable: "the controller may not read namespaces"}
	for _, test := range []struct {
		name      string
		className string
		classes   []*v1.ApplicationClass
		namespace Namespace
		required  bool
		applied   string
		reason    string
		message   string
	}{
		{name: "selected", className: "lax", classes: []*v1.ApplicationClass{lax}, namespace: a, applied: "lax"},
		{
			name: "not selected", className: "lax", classes: []*v1.ApplicationClass{lax, forAll}, namespace: b, reason: v1.ReasonClassNotAllowed,
			message: `spec.className: Forbidden: ApplicationClass "lax" does not select namespace "evil": name a class that does`,
		},
		{
			name: "not selected by any", className: "lax", classes: []*v1.ApplicationClass{lax, forA}, namespace: b, reason: v1.ReasonClassNotAllowed,
			message: `spec.className: Forbidden: ApplicationClass "lax" does not select namespace "evil": no class does; ask the platform team, or remove the field`,
		},
		{
			name: "not selected by any, and required", className: "lax", classes: []*v1.ApplicationClass{lax, forA}, namespace: b, required: true, reason: v1.ReasonClassNotAllowed,
			message: `spec.className: Forbidden: ApplicationClass "lax" does not select namespace "evil": no class does; ask the platform team`,
		},
		{
			name: "labels unknown", className: "lax", classes: []*v1.ApplicationClass{lax, forAll}, namespace: hidden, reason: v1.ReasonClassNotAllowed,
			message: `spec.className: Forbidden: ApplicationClass "lax" selects namespaces by their labels: the controller may not read namespaces`,
		},
		{name: "the newest default that selects", classes: []*v1.ApplicationClass{forA, forAll}, namespace: a, applied: "for-a"},
		{name: "a default of others", classes: []*v1.ApplicationClass{forA, forAll}, namespace: b, applied: "for-all"},
		{name: "no default here", classes: []*v1.ApplicationClass{forA}, namespace: b},
		{
			name: "labels unknown of a default", classes: []*v1.ApplicationClass{forA, forAll}, namespace: hidden, reason: v1.ReasonClassNotAllowed,
			message: `spec.className: Forbidden: ApplicationClass "for-a" is the default in namespaces that it selects by their labels: the controller may not read namespaces`,
		},
		{name: "labels unknown, and a newer default for all", classes: []*v1.ApplicationClass{forA, marked("newer", 9)}, namespace: hidden, applied: "newer"},
		{name: "required and named", className: "lax", classes: []*v1.ApplicationClass{lax}, namespace: a, required: true, applied: "lax"},
		{name: "required, by default", classes: []*v1.ApplicationClass{forAll}, namespace: b, required: true, applied: "for-all"},
		{
			name: "required and none", classes: []*v1.ApplicationClass{forA, lax}, namespace: b, required: true, reason: v1.ReasonClassRequired,
			message: `spec.className: Required value: no default ApplicationClass selects namespace "evil": name a class that does`,
		},
		{name: "required and missing", className: "none", namespace: b, required: true, reason: v1.ReasonClassNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := &v1.Application{Spec: v1.ApplicationSpec{Image: "web:1", ClassName: test.className}}
			application.Name = "web"
			resolved := Resolve(application, Rules{Classes: test.classes, Namespace: test.namespace, Required: test.required})
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
			if test.message != "" && errs[0].Error() != test.message {
				t.Errorf("message is %s, want %s", errs[0].Error(), test.message)
			}
		})
	}
}

// A class says that another one is the default only where that one is the default in all its namespaces.
func TestInsteadOf(t *testing.T) {
	forA := selecting(marked("for-a", 0), "a")
	for _, test := range []struct {
		name  string
		other *v1.ApplicationClass
		want  string
	}{
		{"a newer one for all", marked("for-all", 1), "for-all"},
		{"a newer one for the same", selecting(marked("also-a", 1), "a"), "also-a"},
		{"a newer one for others", selecting(marked("for-b", 1), "b"), "for-a"},
		{"an older one for all", marked("for-all", -1), "for-a"},
		{"a newer one that is no default", unmarked(marked("plain", 1)), "for-a"},
	} {
		if got := InsteadOf(forA, []*v1.ApplicationClass{forA, test.other}).Name; got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
