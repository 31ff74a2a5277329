// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	atMostFour = `Invalid value: 9: ApplicationClass "standard" allows at most 4`
	overLimit  = "the spec is stored, but not applied until this is fixed: spec.replicas: " + atMostFour
)

// withLimit is a handler whose class allows four replicas, and has the Application.
func withLimit(t *testing.T, stored *v1.Application) *Handler {
	t.Helper()
	limited := applicationClass("standard", false, func(s *v1.ApplicationClassSpec) {
		s.Limits = &v1.ApplicationLimits{MaxReplicas: new(int32(4))}
	})
	return (&inClasses{classes: []*v1.ApplicationClass{limited}, applications: []*v1.Application{stored}}).handler(t)
}

func inStandard(changes ...func(*v1.Application)) *v1.Application {
	return application(func(a *v1.Application) {
		a.Spec.ClassName = "standard"
		for _, change := range changes {
			change(a)
		}
	})
}

func replicas(n int32) func(*v1.Application) {
	return func(a *v1.Application) { a.Spec.Replicas = &n }
}

// An Application that exceeds a limit can be edited, as long as it does not exceed it further. It can always be
// stopped, even if it is invalid for other reasons.
func TestUpdateOverALimit(t *testing.T) {
	suspended := func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend }
	relative := func(a *v1.Application) { a.Spec.WorkingDir = "relative" }
	for _, test := range []struct {
		name    string
		old     *v1.Application
		change  func(*v1.Application)
		refused string
		warned  []string
	}{
		{name: "up to the limit", old: inStandard(), change: replicas(4)},
		{name: "over the limit", old: inStandard(), change: replicas(9), refused: "spec.replicas: " + atMostFour},
		{name: "another image", old: inStandard(replicas(9)), change: image("web:2"), warned: []string{overLimit}},
		{name: "below it again", old: inStandard(replicas(9)), change: replicas(2)},
		{name: "further over it", old: inStandard(replicas(8)), change: replicas(9), refused: "spec.replicas: " + atMostFour},
		{name: "paused", old: inStandard(replicas(9)), change: func(a *v1.Application) { a.Spec.Paused = new(true) }, warned: []string{overLimit}},
		{name: "suspended", old: inStandard(replicas(9)), change: suspended, warned: []string{"spec.reconcilePolicy takes effect at once. The rest of " + overLimit}},
		{name: "goes on", old: inStandard(replicas(9), suspended), change: func(a *v1.Application) { a.Spec.ReconcilePolicy = "" }, warned: []string{overLimit}},
		{name: "observed", old: inStandard(replicas(9)), change: func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileObserve }, warned: []string{overLimit}},
		{
			name: "suspended and orphaned", old: inStandard(replicas(9)), change: func(a *v1.Application) {
				a.Spec.ReconcilePolicy, a.Spec.DeletionPolicy = v1.ReconcileSuspend, v1.DeletionOrphan
			}, warned: []string{"spec.reconcilePolicy and spec.deletionPolicy take effect at once. The rest of " + overLimit},
		},
		{name: "orphaned", old: inStandard(replicas(9)), change: func(a *v1.Application) { a.Spec.DeletionPolicy = v1.DeletionOrphan }, warned: []string{"spec.deletionPolicy takes effect at once. The rest of " + overLimit}},
		{
			name: "invalid, and suspended", old: inStandard(relative), change: suspended,
			warned: []string{`spec.reconcilePolicy takes effect at once. The rest of the spec is stored, but not applied until this is fixed: spec.workingDir: Invalid value: "relative": must be an absolute path without control characters`},
		},
		{
			name: "invalid, suspended and edited", old: inStandard(relative), change: func(a *v1.Application) {
				a.Spec.ReconcilePolicy = v1.ReconcileSuspend
				a.Spec.Image = "web:2"
			}, refused: `spec.workingDir: Invalid value: "relative"`,
		},
		{
			name: "of a missing class, and suspended", old: application(inClass("missing")), change: suspended,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			updated := test.old.DeepCopy()
			test.change(updated)
			response := ask(t, withLimit(t, test.old), ValidatePath, review(t, updated, test.old))
			if response.Allowed != (test.refused == "") {
				t.Errorf("allowed is %t: %s", response.Allowed, messageOf(response))
			}
			contains(t, messageOf(response), []string{test.refused})
			if diff := cmp.Diff(test.warned, response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// An Application whose class ceased to select the namespace is edited and scaled under the limits of that class, with a warning.
func TestUpdateInAClassThatDoesNotSelect(t *testing.T) {
	const (
		unselectedError = `spec.className: Forbidden: ApplicationClass "standard" does not select namespace "shop": name a class that does`
		unselected      = "the spec is stored, but not applied until this is fixed: " + unselectedError
		relative        = `spec.workingDir: Invalid value: "relative": must be an absolute path`
	)
	limited := applicationClass("standard", false, func(s *v1.ApplicationClassSpec) {
		forTeam("pay")(s)
		s.Limits = &v1.ApplicationLimits{MaxReplicas: new(int32(4))}
	})
	other, open := applicationClass("other", false, forTeam("pay")), applicationClass("open", false, nil)
	had := func(a *v1.Application) { a.Status.Class = &v1.AppliedClass{Name: "standard"} }
	for _, test := range []struct {
		name     string
		old      *v1.Application
		change   func(*v1.Application)
		replicas int32 // Also by scaling, if it is not 0.
		refused  string
	}{
		{name: "another image", old: inStandard(had), change: image("web:2")},
		{name: "more replicas", old: inStandard(had, replicas(1)), change: replicas(2), replicas: 2},
		{name: "over the limit", old: inStandard(had, replicas(1)), change: replicas(9), replicas: 9, refused: "spec.replicas: " + atMostFour},
		{name: "over it already, and less", old: inStandard(had, replicas(10)), change: replicas(9), replicas: 9},
		{name: "an error", old: inStandard(had), change: func(a *v1.Application) { a.Spec.WorkingDir = "relative" }, refused: relative},
		{name: "it never had the class", old: inStandard(), change: image("web:2"), refused: unselectedError},
		{name: "it never had the class, and learns no limit", old: inStandard(), change: replicas(9), refused: unselectedError},
		{name: "another class that does not", old: inStandard(had), change: inClass("other"), refused: `ApplicationClass "other" does not select namespace "shop"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler := (&inClasses{
				classes: []*v1.ApplicationClass{limited, other, open}, applications: []*v1.Application{test.old}, namespaces: map[string]map[string]string{"shop": {}},
			}).handler(t)
			updated := test.old.DeepCopy()
			test.change(updated)
			responses := []*admissionv1.AdmissionResponse{ask(t, handler, ValidatePath, review(t, updated, test.old))}
			if test.replicas != 0 {
				responses = append(responses, ask(t, handler, ValidateScalePath, scaleReview(t, *test.old.Spec.Replicas, test.replicas)))
			}
			for _, response := range responses {
				contains(t, messageOf(response), []string{test.refused})
				if test.refused == unselectedError && strings.Contains(messageOf(response), atMostFour) {
					t.Errorf("it tells a limit of a class that the Application never had: %s", messageOf(response))
				}
				var warned []string
				switch {
				case test.refused == "":
					warned = []string{unselected}
				case strings.Contains(test.refused, "does not select"):
					warned = []string{`Classes for namespace "shop": open`}
				}
				if diff := cmp.Diff(warned, response.Warnings); diff != "" || response.Allowed != (test.refused == "") {
					t.Errorf("allowed is %t: %s; warnings (-want +got):\n%s", response.Allowed, messageOf(response), diff)
				}
			}
		})
	}
}

// A class that allows no pods allows no Application that leaves replicas out: its Deployment would start with one.
func TestNoReplicasAllowed(t *testing.T) {
	const refused = `spec.replicas: Invalid value: 1: ApplicationClass "standard" allows no pods; without replicas, a Deployment starts with 1: set replicas to 0`
	none := applicationClass("standard", false, func(s *v1.ApplicationClassSpec) {
		s.Limits = &v1.ApplicationLimits{MaxReplicas: new(int32(0))}
	})
	handler := (&inClasses{classes: []*v1.ApplicationClass{none}}).handler(t)
	if response := ask(t, handler, ValidatePath, review(t, inStandard(), nil)); response.Allowed {
		t.Error("an Application without replicas is created")
	} else {
		contains(t, messageOf(response), []string{refused})
	}
	if response := ask(t, handler, ValidatePath, review(t, inStandard(replicas(0)), nil)); !response.Allowed {
		t.Errorf("replicas 0: %s", messageOf(response))
	}
	response := ask(t, handler, ValidatePath, review(t, inStandard(image("web:2")), inStandard()))
	if diff := cmp.Diff([]string{"the spec is stored, but not applied until this is fixed: " + refused}, response.Warnings); diff != "" || !response.Allowed {
		t.Errorf("another image: allowed is %t, warnings (-want +got):\n%s", response.Allowed, diff)
	}
}

// A switch that is turned must not bring in defaults that the user did not ask for.
func TestSwitchStoresNoDefaults(t *testing.T) {
	handler := (&inClasses{classes: []*v1.ApplicationClass{applicationClass("standard", true, nil)}}).handler(t)
	suspended := application(func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend })
	if response := ask(t, handler, MutatePath, review(t, suspended, application(nil))); response.Patch != nil {
		t.Errorf("the patch is %s", response.Patch)
	}
}

// The one who turns a switch may start pods too, by continuing what was suspended.
func TestSwitchNeedsTheServiceAccount(t *testing.T) {
	suspended := application(func(a *v1.Application) {
		withAccount("powerful")(a)
		a.Spec.ReconcilePolicy = v1.ReconcileSuspend
	})
	response := ask(t, new(cluster).handler(t), ValidatePath, review(t, application(withAccount("powerful")), suspended))
	contains(t, messageOf(response), []string{`user "jane" must be allowed to impersonate ServiceAccount "powerful"`})
}
