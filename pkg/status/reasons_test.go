// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// declaredReasons reads the reasons of conditions from where they are declared.
func declaredReasons(t *testing.T) map[string]string {
	t.Helper()
	reasons := map[string]string{}
	for _, file := range []string{"conditions.go", "conditions_class.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "../apis/apps/v1/"+file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
				return true
			}
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			reasons[spec.Names[0].Name] = value
			return true
		})
	}
	if len(reasons) < 50 {
		t.Fatalf("only %d reasons are declared: %v", len(reasons), reasons)
	}
	return reasons
}

// quietReasons are those that cause no Event when Ready turns False, and why.
func quietReasons() map[string]string {
	const (
		moves     = "a controller acts next, not a user"
		asked     = "the user has asked for it"
		elsewhere = "another condition has the Event"
	)
	return map[string]string{
		v1.ReasonApplying: moves, v1.ReasonApplyFailed: moves, v1.ReasonRollingOut: moves,
		v1.ReasonDeploymentNotFound: moves, v1.ReasonRoutesPending: moves,
		v1.ReasonPaused: asked, v1.ReasonSuspended: asked, v1.ReasonDrifted: elsewhere,
	}
}

// Whatever asks a user to act has an Event: when Ready turns False for the reason, and when Stalled turns True. A new
// reason has one too, unless this test says why not.
func TestEveryReasonHasAnEvent(t *testing.T) {
	quiet := quietReasons()
	ready := v1.ApplicationStatus{Conditions: []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1.ReasonReady}}}
	for name, reason := range declaredReasons(t) {
		unready := metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: "Why."}
		stalled := metav1.Condition{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: "Why."}
		for _, conditions := range [][]metav1.Condition{{unready}, {unready, stalled}} {
			want := []string{corev1.EventTypeWarning + " " + reason + ": Why."}
			if quiet[reason] != "" && len(conditions) == 1 {
				want = nil
			}
			next := v1.ApplicationStatus{Conditions: conditions}
			var got []string
			for _, transition := range Transitions(ready, next) {
				got = append(got, transition.Type+" "+transition.Reason+": "+transition.Message)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, stalled: %t: Events %q, want %q", name, len(conditions) == 2, got, want)
			}
			if again := Transitions(next, next); len(again) > 0 {
				t.Errorf("%s: a second sync has Events: %v", name, again)
			}
		}
	}
}

// An Application that is to adopt a Deployment begins under Observe, and does not see yet what exists: what differs is no warning until the
// adoption begins.
func TestDriftBeforeAdoption(t *testing.T) {
	drifted := metav1.Condition{Type: v1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: v1.ReasonDrifted, Message: "Fairlead would create 4 objects, unless objects of those names exist."}
	status := func(reason string) v1.ApplicationStatus {
		return v1.ApplicationStatus{Conditions: []metav1.Condition{drifted, {Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: reason}}}
	}
	// It adopted the Deployment once, and then a user deleted it.
	adopted := func(status v1.ApplicationStatus) v1.ApplicationStatus {
		status.Revision = &v1.RevisionStatus{Current: 1, LastHealthy: 1}
		return status
	}
	for _, test := range []struct {
		old, new v1.ApplicationStatus
		want     int
	}{
		{adopted(v1.ApplicationStatus{}), adopted(status(v1.ReasonAdopting)), 1},
		{adopted(status(v1.ReasonAdopting)), adopted(status(v1.ReasonPodsHeld)), 0},
		{v1.ApplicationStatus{}, status(v1.ReasonAdopting), 0},
		{status(v1.ReasonAdopting), status(v1.ReasonAdopting), 0},
		{status(v1.ReasonAdopting), status(v1.ReasonAwaitingConsent), 0},
		{status(v1.ReasonAdopting), status(v1.ReasonPodsHeld), 1},
		{status(v1.ReasonPodsHeld), status(v1.ReasonPodsHeld), 0},
		{v1.ApplicationStatus{}, status(v1.ReasonRefused), 1},
	} {
		if got := Transitions(test.old, test.new); len(got) != test.want || len(got) == 1 && got[0].Message != drifted.Message {
			t.Errorf("from %v to %v: %+v, want %d", test.old.Conditions, test.new.Conditions, got, test.want)
		}
	}
}

// Conditions beside Ready that ask a user to act have Events too, whatever Ready says.
func TestSideConditionsHaveEvents(t *testing.T) {
	for _, test := range []struct {
		condition metav1.Condition
		want      int
	}{
		{metav1.Condition{Type: v1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: v1.ReasonDrifted}, 1},
		{metav1.Condition{Type: v1.ConditionConfigWatched, Status: metav1.ConditionFalse, Reason: v1.ReasonConfigNotReadable}, 1},
		{metav1.Condition{Type: v1.ConditionMonitoringReady, Status: metav1.ConditionFalse, Reason: v1.ReasonAPINotServed}, 1},
		{metav1.Condition{Type: v1.ConditionMonitoringReady, Status: metav1.ConditionFalse, Reason: v1.ReasonMonitoringNotApplied}, 0},
		{metav1.Condition{Type: v1.ConditionMonitoringReady, Status: metav1.ConditionTrue, Reason: v1.ReasonApplied}, 0},
		{metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionFalse, Reason: v1.ReasonNoHealthyRevision}, 1},
		{metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionFalse, Reason: v1.ReasonSameSpec}, 1},
		{metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionFalse, Reason: v1.ReasonNotCausedByRevision}, 1},
		{metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionFalse, Reason: v1.ReasonRevisionRefused}, 1},
	} {
		next := v1.ApplicationStatus{Conditions: []metav1.Condition{test.condition}}
		if got := Transitions(v1.ApplicationStatus{}, next); len(got) != test.want || len(got) == 1 && got[0].Reason != test.condition.Reason {
			t.Errorf("%s=%s/%s: %+v, want %d", test.condition.Type, test.condition.Status, test.condition.Reason, got, test.want)
		}
		if again := Transitions(next, next); len(again) > 0 {
			t.Errorf("%s: a second sync has Events: %v", test.condition.Type, again)
		}
	}
}
