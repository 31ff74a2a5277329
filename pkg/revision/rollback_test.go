// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/health"
)

// cluster is what the API stores of one Application. It plays the rest of the sync: what is recorded is
// stored, and what is to run is put on the Deployment.
type cluster struct {
	application *v1.Application
	deployment  *appsv1.Deployment
	history     []*appsv1.ControllerRevision
	rollout     health.Rollout
	refused     field.ErrorList
	references  string
	// runs is the image that the Deployment has.
	runs string
}

func newCluster() *cluster {
	c := &cluster{application: &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"}}}
	c.application.Spec.Rollback = &v1.Rollback{Policy: v1.RollbackOnFailure}
	return c
}

func (c *cluster) input() Input {
	return Input{
		Application: c.application, Deployment: c.deployment, History: c.history, Health: c.rollout,
		Validate: func(*v1.Application) (field.ErrorList, string) { return c.refused, v1.ReasonClassLimitExceeded },
	}
}

// sync does what a sync does, and returns the record.
func (c *cluster) sync(t fataler) Record {
	t.Helper()
	selection, err := Select(c.input())
	if err != nil {
		t.Fatalf("choose: %v", err)
	}
	if len(selection.Invalid) > 0 {
		return Record{Status: *c.application.Status.Revision, Condition: &metav1.Condition{Reason: selection.InvalidReason}}
	}
	record, err := selection.Record(c.references, "")
	if err != nil {
		t.Fatalf("record: %v", err)
	}
	c.history = slices.DeleteFunc(c.history, func(r *appsv1.ControllerRevision) bool {
		return r.Name == record.Name || !slices.Contains(record.Kept, r.Name)
	})
	var former []string
	for _, number := range record.FormerNumbers {
		former = append(former, fmt.Sprint(number))
	}
	c.history = append(c.history, &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: record.Name, Annotations: map[string]string{
			v1.AnnotationFormerNumbers: strings.Join(former, ","), v1.AnnotationRolledBackBefore: strings.Join(record.RolledBackBefore, ","),
		}},
		Revision: record.Number, Data: runtime.RawExtension{Raw: record.Data},
	})
	annotations := map[string]string{v1.AnnotationRevision: record.Name}
	if record.RolledBackFrom != "" {
		annotations[v1.AnnotationRolledBackFrom], annotations[v1.AnnotationRolledBackBecause] = record.RolledBackFrom, record.RolledBackBecause
	}
	if c.deployment == nil || c.deployment.Annotations[v1.AnnotationRevision] != record.Name {
		c.rollout = health.Rollout{} // It begins.
	}
	c.deployment = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
	c.application.Status.Revision = &record.Status
	c.runs = selection.Application.Spec.Image
	return record
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// run makes the spec ask for an image, and its rollout end like that. Kubernetes says nothing else about it then.
func (c *cluster) run(t fataler, image string, end health.Rollout) Record {
	t.Helper()
	c.application.Spec.Image = image
	c.sync(t)
	c.rollout = end
	return c.sync(t)
}

var (
	healthy = health.Rollout{Complete: true, Desired: 1}
	broken  = timedOut(v1.ReasonCrashLooping, "Exited with code 1.")
)

func TestRollsBackOnce(t *testing.T) {
	c := newCluster()
	c.run(t, "web:1", healthy)
	record := c.run(t, "web:2", broken)
	if c.runs != "web:1" || !cmp.Equal(record.Status, v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2}) {
		t.Errorf("it runs %s, and %+v", c.runs, record.Status)
	}
	want := &metav1.Condition{
		Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack,
		Message: "Revision 2 (web:2) failed: CrashLooping: Exited with code 1. Revision 1 (web:1) runs instead.",
	}
	if diff := cmp.Diff(want, record.Condition); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	for name, then := range map[string]health.Rollout{"nothing new": {}, "it serves": healthy, "it fails as well": broken} {
		c.rollout = then
		if again := c.sync(t); c.runs != "web:1" || !cmp.Equal(again, record) {
			t.Errorf("%s: it runs %s:\n%s", name, c.runs, cmp.Diff(record, again))
		}
	}
	// A status that got lost, or was not written before a crash.
	c.application.Status.Revision = nil
	if again := c.sync(t); c.runs != "web:1" || !cmp.Equal(again.Condition, record.Condition) {
		t.Errorf("without a status: it runs %s, %+v", c.runs, again.Condition)
	}
	// Others deleted the Deployment.
	c.deployment = nil
	if again := c.sync(t); c.runs != "web:1" || again.Status.RolledBackFrom != 2 || !strings.Contains(again.Condition.Message, "ProgressDeadlineExceeded.") {
		t.Errorf("without a Deployment: it runs %s, %+v", c.runs, again)
	}
	// The condition still says why.
	c.deployment = nil
	c.application.Status.Conditions = []metav1.Condition{*want}
	c.application.Status.Conditions[0].Type = v1.ConditionRolledBack
	if again := c.sync(t); !cmp.Equal(again.Condition, want) {
		t.Errorf("with the condition, but without a Deployment: %+v", again.Condition)
	}
	// What says nothing about pods changes nothing.
	c.application.Spec.Replicas, c.application.Spec.Rollback = new(int32(5)), nil
	c.sync(t)
	if c.runs != "web:1" {
		t.Errorf("after it was scaled it runs %s", c.runs)
	}
}

func TestEndOfARollback(t *testing.T) {
	for _, test := range []struct {
		name, image, runs string
		want              v1.RevisionStatus
	}{
		{"the next spec", "web:3", "web:3", v1.RevisionStatus{Current: 3, LastHealthy: 1}},
		{"the former spec", "web:1", "web:1", v1.RevisionStatus{Current: 3, LastHealthy: 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster()
			c.run(t, "web:1", healthy)
			c.run(t, "web:2", broken)
			c.application.Spec.Image = test.image
			record := c.sync(t)
			if c.runs != test.runs || !cmp.Equal(record.Status, test.want) || record.Condition != nil || record.RolledBackFrom != "" {
				t.Errorf("it runs %s, %+v", c.runs, record)
			}
		})
	}
}

// What failed once is tried again after another spec was asked for in between.
func TestTriedAgain(t *testing.T) {
	c := newCluster()
	c.run(t, "web:1", healthy)
	c.run(t, "web:2", broken)
	c.run(t, "web:3", broken)
	c.application.Spec.Image = "web:2"
	c.sync(t)
	if c.runs != "web:2" {
		t.Errorf("it runs %s", c.runs)
	}
	c.rollout = broken
	if record := c.sync(t); c.runs != "web:1" || record.Status.RolledBackFrom != 4 {
		t.Errorf("it runs %s, %+v", c.runs, record.Status)
	}
}

func TestNotRolledBack(t *testing.T) {
	failure := func(reason string) health.Rollout { return timedOut(reason, "") }
	late := failure(v1.ReasonReadinessFailing)
	late.LateUntil = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name   string
		happen func(*cluster)
		end    health.Rollout
		// want is the reason of the condition, "" for none.
		want string
	}{
		{"it is under way", nil, health.Rollout{Problems: []v1.Problem{{Reason: v1.ReasonCrashLooping}}}, ""},
		{"the policy is Never", func(c *cluster) { c.application.Spec.Rollback.Policy = v1.RollbackNever }, broken, ""},
		{"there is no policy", func(c *cluster) { c.application.Spec.Rollback = nil }, broken, ""},
		{"paused", func(c *cluster) { c.application.Spec.Paused = new(true) }, broken, ""},
		{"observed only", func(c *cluster) { c.application.Spec.ReconcilePolicy = v1.ReconcileObserve }, broken, ""},
		{"suspended", func(c *cluster) { c.application.Spec.ReconcilePolicy = v1.ReconcileSuspend }, broken, ""},
		{"the Deployment is about another revision", func(c *cluster) { c.deployment.Annotations[v1.AnnotationRevision] = "web-0123456789" }, broken, ""},
		{"the Deployment is of an older Fairlead", func(c *cluster) { c.deployment.Annotations = nil }, broken, ""},
		{"never healthy", func(c *cluster) { c.application.Status.Revision.LastHealthy = 0 }, broken, v1.ReasonNoHealthyRevision},
		{"the healthy one is gone", func(c *cluster) { c.history = c.history[1:] }, broken, v1.ReasonNoHealthyRevision},
		{"the healthy one is forged", func(c *cluster) { c.history[0].Data.Raw = []byte(`{"spec":{"image":"evil:1"}}`) }, broken, v1.ReasonNoHealthyRevision},
		{"the healthy one is garbled", func(c *cluster) { c.history[0].Data.Raw = []byte(`{`) }, broken, v1.ReasonNoHealthyRevision},
		{"the healthy one is refused", func(c *cluster) { c.refused = field.ErrorList{field.Required(field.NewPath("spec"), "x")} }, broken, v1.ReasonRevisionRefused},
		{"it is the healthy one", func(c *cluster) { c.application.Status.Revision.LastHealthy = 2 }, broken, v1.ReasonSameSpec},
		{"nobody says why", nil, failure(""), v1.ReasonNotCausedByRevision},
		{"no room", nil, failure(v1.ReasonUnschedulable), v1.ReasonNotCausedByRevision},
		{"a quota", nil, failure(v1.ReasonQuotaExceeded), v1.ReasonNotCausedByRevision},
		{"a policy", nil, failure(v1.ReasonPolicyDenied), v1.ReasonNotCausedByRevision},
		{"pods cannot be made", nil, failure(v1.ReasonReplicaFailure), v1.ReasonNotCausedByRevision},
		{"a volume", nil, failure(v1.ReasonVolumeNotMounting), v1.ReasonNotCausedByRevision},
		{"a node", nil, failure(v1.ReasonNodeLost), v1.ReasonNotCausedByRevision},
		{"pods that started late", nil, late, v1.ReasonNotCausedByRevision},
		{"something unheard of", nil, failure("Unheard"), v1.ReasonNotCausedByRevision},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster()
			c.run(t, "web:1", healthy)
			c.run(t, "web:2", health.Rollout{})
			if test.happen != nil {
				test.happen(c)
			}
			c.rollout = test.end
			record := c.sync(t)
			got := ""
			if record.Condition != nil {
				got = record.Condition.Reason
				if record.Condition.Status != metav1.ConditionFalse || record.Condition.Message == "" {
					t.Errorf("the condition is %+v", record.Condition)
				}
			}
			if c.runs != "web:2" || got != test.want || record.RolledBackFrom != "" {
				t.Errorf("it runs %s, and the reason is %q, want %q", c.runs, got, test.want)
			}
		})
	}
}

// TestStartedLate: the pods have as long as the rollout had, and then the revision is rolled back as any other.
func TestStartedLate(t *testing.T) {
	c := newCluster()
	c.run(t, "web:1", healthy)
	c.run(t, "web:2", health.Rollout{})
	c.rollout = timedOut(v1.ReasonReadinessFailing, "")
	c.rollout.LateUntil = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	const want = "The cluster let the pods start only after the deadline of the rollout; they have until 2026-07-01T12:00:00Z to become ready."
	if record := c.sync(t); c.runs != "web:2" || record.Condition == nil || record.Condition.Message != want {
		t.Errorf("it runs %s, and the condition is %+v, want %q", c.runs, record.Condition, want)
	}
	c.rollout.LateUntil = time.Time{}
	c.sync(t)
	if c.runs != "web:1" {
		t.Errorf("it runs %s after that", c.runs)
	}
}

func TestRolledBackFor(t *testing.T) {
	for _, reason := range []string{
		v1.ReasonImagePullFailed, v1.ReasonConfigError, v1.ReasonInitFailed, v1.ReasonStartFailed, v1.ReasonCrashLooping, v1.ReasonReadinessFailing,
	} {
		c := newCluster()
		c.run(t, "web:1", healthy)
		c.run(t, "web:2", timedOut(reason, ""))
		if c.runs != "web:1" {
			t.Errorf("%s: it runs %s", reason, c.runs)
		}
	}
}

// A ConfigMap that changed makes another revision of the same spec, to which nothing can go back.
func TestOnlyReferencesChanged(t *testing.T) {
	c := newCluster()
	c.references = "a"
	c.run(t, "web:1", healthy)
	c.references = "b"
	record := c.run(t, "web:1", broken)
	if !cmp.Equal(record.Status, v1.RevisionStatus{Current: 2, LastHealthy: 1}) || record.Condition == nil || record.Condition.Reason != v1.ReasonSameSpec {
		t.Errorf("the record is %+v", record)
	}
	// Another spec that fails goes back to that spec, with the references of today.
	record = c.run(t, "web:2", broken)
	if c.runs != "web:1" || !cmp.Equal(record.Status, v1.RevisionStatus{Current: 2, LastHealthy: 1, RolledBackFrom: 3}) {
		t.Errorf("it runs %s, %+v", c.runs, record.Status)
	}
	c.references = "c"
	record = c.sync(t)
	if c.runs != "web:1" || !cmp.Equal(record.Status, v1.RevisionStatus{Current: 4, LastHealthy: 1, RolledBackFrom: 3}) {
		t.Errorf("it runs %s, %+v", c.runs, record.Status)
	}
}

// What was put back must not be exchanged for what has failed, whatever becomes of its revision.
func TestPutBackAndLost(t *testing.T) {
	for name, test := range map[string]struct {
		happen func(*cluster)
		want   string
	}{
		"others deleted it": {
			func(c *cluster) {
				c.history = slices.DeleteFunc(c.history, func(r *appsv1.ControllerRevision) bool { return r.Revision == 1 })
			},
			v1.ReasonRevisionMissing,
		},
		"the class allows it no more": {
			func(c *cluster) { c.refused = field.ErrorList{field.Required(field.NewPath("spec"), "x")} },
			v1.ReasonClassLimitExceeded,
		},
	} {
		c := newCluster()
		c.run(t, "web:1", healthy)
		c.run(t, "web:2", broken)
		test.happen(c)
		if record := c.sync(t); c.runs != "web:1" || record.Condition == nil || record.Condition.Reason != test.want {
			t.Errorf("%s: it runs %s, %+v", name, c.runs, record.Condition)
		}
	}
}

// The revision that the Deployment asks for need not run.
func TestHealthyRevisionFails(t *testing.T) {
	const runs, asked = "Revision 2 (web:2) has been healthy, and is what runs.", "Revision 2 (web:2) has been healthy, and is what the Deployment asks for."
	for _, test := range []struct {
		name   string
		status appsv1.DeploymentStatus
		want   string
	}{
		{"no pod", appsv1.DeploymentStatus{}, asked},
		{"none is available", appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2}, asked},
		{"those of an older revision are", appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2}, asked},
		{"one is available", appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1}, runs},
	} {
		c := newCluster()
		c.run(t, "web:1", healthy)
		c.run(t, "web:2", healthy)
		c.rollout = timedOut(v1.ReasonPolicyDenied, "no")
		c.rollout.Status = test.status
		if record := c.sync(t); record.Condition == nil || record.Condition.Message != test.want {
			t.Errorf("%s: the condition is %+v, want %q", test.name, record.Condition, test.want)
		}
	}
}

// timedOut is a rollout that failed, for the reason if there is one.
func timedOut(reason, message string) health.Rollout {
	r := health.Rollout{TimedOut: true}
	if reason != "" {
		r.Problems = []v1.Problem{{Reason: reason, Message: message}}
	}
	return r
}
