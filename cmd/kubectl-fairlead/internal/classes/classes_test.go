// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package classes_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/classes"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestPrint shows the class of the examples, and one that imposes nothing.
func TestPrint(t *testing.T) {
	content, err := os.ReadFile("../../../../artifacts/examples/classes/standard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(content), "\n---")
	var standard v1.ApplicationClass
	if err := yaml.Unmarshal([]byte(first), &standard); err != nil {
		t.Fatal(err)
	}
	standard.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "shop"}}
	free := v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "free", Annotations: map[string]string{v1.AnnotationDefaultClass: "true"}}}
	application := v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	application.Status.Class = &v1.AppliedClass{Name: "standard"}
	application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1.ReasonReady}}
	refused, edited := *application.DeepCopy(), *application.DeepCopy()
	refused.Name, edited.Name, edited.Generation = "api", "edited", 2
	refused.Status.Class, refused.Status.RefusedClass = nil, &v1.RefusedClass{Name: "standard"}
	refused.Status.Conditions[0].Status, refused.Status.Conditions[0].Reason = metav1.ConditionFalse, v1.ReasonClassLimitExceeded
	observed, pinned, paused, crashing := *application.DeepCopy(), *application.DeepCopy(), *application.DeepCopy(), *application.DeepCopy()
	observed.Name, observed.Spec.ReconcilePolicy = "observed", v1.ReconcileObserve
	pinned.Name, pinned.Spec.Rollback = "pinned", &v1.Rollback{ToRevision: new(int64(1))}
	paused.Name, paused.Spec.Paused, paused.Status.Replicas = "paused", new(true), 2
	paused.Status.Conditions[0].Status, paused.Status.Conditions[0].Reason = metav1.ConditionFalse, v1.ReasonPaused
	crashing.Name, crashing.Spec.Rollback = "crashing", pinned.Spec.Rollback
	crashing.Status.Conditions[0].Status, crashing.Status.Conditions[0].Reason = metav1.ConditionFalse, v1.ReasonCrashLooping
	all := []v1.ApplicationClass{standard, free}
	applications := []v1.Application{application, refused, edited, observed, pinned, paused, crashing}
	found, err := classes.Of(all, applications, nil)
	if err != nil {
		t.Fatal(err)
	}
	golden.Screens(t, "classes", func(to *screen.Screen) { classes.Print(to, found) })
	golden.Screens(t, "none", func(to *screen.Screen) { classes.Print(to, nil) })
	if one, err := classes.Of(all, applications, []string{"free"}); err != nil || len(one) != 1 || !one[0].Default || len(one[0].Applications) > 0 {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := classes.Of(all, applications, []string{"gone"}); err == nil {
		t.Error("a class that does not exist is found")
	}
}

// TestNotTheDefault shows a class that a newer default replaces.
func TestNotTheDefault(t *testing.T) {
	const message = "ApplicationClass silver is marked as the default too, and it is newer. Take the annotation off one of them."
	gold := v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "gold", Annotations: map[string]string{v1.AnnotationDefaultClass: "true"}}}
	gold.Status.Conditions = []metav1.Condition{{Type: v1.ConditionDefault, Status: metav1.ConditionFalse, Reason: v1.ReasonNewerDefault, Message: message}}
	found, err := classes.Of([]v1.ApplicationClass{gold}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found[0].Default || found[0].NotDefault != message {
		t.Errorf("%+v", found[0])
	}
	golden.Screens(t, "not-default", func(to *screen.Screen) { classes.Print(to, found) })
}

// TestUsedBy counts Applications that break the rules of their class: it is never applied to them.
func TestUsedBy(t *testing.T) {
	application := func(name string, change func(*v1.Application)) v1.Application {
		a := v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		change(&a)
		return a
	}
	all := []v1.ApplicationClass{{ObjectMeta: metav1.ObjectMeta{Name: "standard"}}}
	applications := []v1.Application{
		application("named", func(a *v1.Application) { a.Spec.ClassName = "standard" }),
		application("default", func(a *v1.Application) { a.Status.Class = &v1.AppliedClass{Name: "standard"} }),
		application("refused", func(a *v1.Application) { a.Status.RefusedClass = &v1.RefusedClass{Name: "standard"} }),
		application("other", func(a *v1.Application) {
			a.Status.Class, a.Status.RefusedClass = &v1.AppliedClass{Name: "standard"}, &v1.RefusedClass{Name: "strict"}
		}),
		application("none", func(*v1.Application) {}),
	}
	found, err := classes.Of(all, applications, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"shop/default", "shop/named", "shop/refused"}; !slices.Equal(found[0].Applications, want) {
		t.Errorf("used by %q, want %q", found[0].Applications, want)
	}
}

// TestUnlisted: a user without permission to list Applications sees how many use a class, if its status knows, and never a false "none".
func TestUnlisted(t *testing.T) {
	all := []v1.ApplicationClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "a", Generation: 2}, Status: v1.ApplicationClassStatus{ObservedGeneration: 2, Applications: 12}},
		{ObjectMeta: metav1.ObjectMeta{Name: "b", Generation: 1}, Status: v1.ApplicationClassStatus{ObservedGeneration: 1, Applications: 1}},
		{ObjectMeta: metav1.ObjectMeta{Name: "c", Generation: 1}, Status: v1.ApplicationClassStatus{ObservedGeneration: 1}},
		{ObjectMeta: metav1.ObjectMeta{Name: "d", Generation: 2}, Status: v1.ApplicationClassStatus{ObservedGeneration: 1, Applications: 3}},
		{ObjectMeta: metav1.ObjectMeta{Name: "e", Generation: 1}, Status: v1.ApplicationClassStatus{ObservedGeneration: -1}},
	}
	found, err := classes.Of(all, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	classes.Unlisted(all, found)
	golden.Screens(t, "unlisted", func(to *screen.Screen) { classes.Print(to, found) })
}
