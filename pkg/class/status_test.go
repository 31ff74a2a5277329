// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestCount(t *testing.T) {
	synced := func(class string, generation int64) *v1.Application {
		application := &v1.Application{}
		application.Status.Class = &v1.AppliedClass{Name: class, Generation: generation}
		return application
	}
	stalled, suspended, going := synced("standard", 2), synced("standard", 1), synced("standard", 1)
	stalled.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonProgressDeadlineExceeded}}
	suspended.Spec.ReconcilePolicy = v1.ReconcileSuspend
	going.DeletionTimestamp = &metav1.Time{Time: start}
	suspended.Namespace, suspended.Name, going.Namespace, going.Name = "shop", "still", "shop", "going"
	class := marked("standard", 0)
	class.Generation = 2
	refused := synced("standard", 1)
	refused.Namespace, refused.Name = "shop", "web"
	refused.Status.RefusedClass = &v1.RefusedClass{Name: "standard", Generation: 2}
	refused.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonClassLimitExceeded}}
	stalled.Namespace, stalled.Name = "shop", "api"
	got := Count(class, []*v1.Application{synced("standard", 2), stalled, refused, synced("standard", 1), synced("other", 2), suspended, going, {}})
	want := Usage{
		Applications: 8, Updated: 1, Failing: 2, Waiting: 3,
		Refused: []behind{{"shop/web", v1.ReasonClassLimitExceeded}}, Stalled: []behind{{"shop/api", v1.ReasonProgressDeadlineExceeded}},
		Held: []behind{{"shop/going", heldDeleted}, {"shop/still", heldSuspended}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// An Application has a class only once its children do. That it was read with the class is not enough for a platform team that waits for a
// default of it.
func TestCountOfHeld(t *testing.T) {
	class := marked("standard", 0)
	class.Generation = 2
	ready := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason}}
	}
	for _, test := range []struct {
		name   string
		change func(*v1.Application)
		want   string
	}{
		{"follows", func(*v1.Application) {}, ""},
		{"suspended since", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend }, ""},
		{"suspended before", func(a *v1.Application) {
			a.Spec.ReconcilePolicy, a.Status.Class.Generation = v1.ReconcileSuspend, 1
		}, "suspended"},
		{"observed", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileObserve }, "Observe"},
		{"pinned", func(a *v1.Application) { a.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))} }, "pinned"},
		{"with a policy of rollbacks", func(a *v1.Application) { a.Spec.Rollback = &v1.Rollback{Policy: v1.RollbackOnFailure} }, ""},
		{"rolled back", func(a *v1.Application) {
			a.Status.Conditions = append(ready(v1.ReasonApplying), metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionTrue})
		}, "rolled back"},
		{"paused, and nothing waits", func(a *v1.Application) {
			a.Spec.Paused, a.Status.Replicas, a.Status.UpdatedReplicas = new(true), 2, 2
		}, ""},
		{"paused, and pods wait", func(a *v1.Application) { a.Spec.Paused, a.Status.Replicas = new(true), 2 }, "paused"},
		{"being deleted", func(a *v1.Application) {
			a.DeletionTimestamp, a.Status.Class.Generation = &metav1.Time{Time: start}, 1
		}, "being deleted"},
	} {
		application := &v1.Application{}
		application.Namespace, application.Name = "shop", "web"
		application.Status.Class = &v1.AppliedClass{Name: "standard", Generation: 2}
		test.change(application)
		want := Usage{Applications: 1, Updated: 1}
		if test.want != "" {
			want = Usage{Applications: 1, Held: []behind{{"shop/web", test.want}}}
		}
		if got := Count(class, []*v1.Application{application}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: counted %+v, want %+v", test.name, got, want)
		}
		application.Status.Conditions = append(application.Status.Conditions, metav1.Condition{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonConflict})
		if got := Count(class, []*v1.Application{application}); got.Updated != 0 || len(got.Held) > 0 || len(got.Stalled) != 1 {
			t.Errorf("%s, and stalled: counted %+v", test.name, got)
		}
	}
}

// A class is not ready while it does not select the namespaces of its Applications, whether it did so before or never.
func TestCountOfNamespacesNotSelected(t *testing.T) {
	class := marked("standard", 0)
	class.Generation = 2
	stalled := func(name, className string, applied *v1.AppliedClass) *v1.Application {
		application := &v1.Application{}
		application.Namespace, application.Name, application.Spec.ClassName = "shop", name, className
		application.Status.Class = applied
		application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonClassNotAllowed}}
		return application
	}
	before, never := stalled("before", "standard", &v1.AppliedClass{Name: "standard", Generation: 2}), stalled("never", "standard", nil)
	usage := Count(class, []*v1.Application{before, never})
	ready := meta.FindStatusCondition(Status(class, usage, nil, start).Conditions, v1.ConditionReady)
	const want = "Fairlead refuses 2 of 2 Applications of the class, and leaves their children as they are: shop/before (ClassNotAllowed), shop/never."
	if ready.Status != metav1.ConditionFalse || ready.Reason != v1.ReasonClassNotAllowed || ready.Message != want {
		t.Errorf("Ready is %s/%s: %s\nwant: %s", ready.Status, ready.Reason, ready.Message, want)
	}
	// It may lack a class of its own because another one, the default, is undecided.
	unnamed := stalled("unnamed", "", &v1.AppliedClass{Name: "standard", Generation: 2})
	if usage := Count(class, []*v1.Application{unnamed}); len(usage.Refused) > 0 {
		t.Errorf("an Application without a class name counts as refused: %+v", usage)
	}
}

func TestStatus(t *testing.T) {
	invalid := marked("standard", 0)
	invalid.Spec.Defaults = &v1.ApplicationDefaults{PriorityClassName: "Not A Name"}
	unmarked := marked("standard", 0)
	unmarked.Annotations = nil
	for _, test := range []struct {
		name   string
		class  *v1.ApplicationClass
		chosen *v1.ApplicationClass
		usage  Usage
		want   string
	}{
		{"nobody has it", unmarked, nil, Usage{}, "Ready=True/Applied"},
		{"the default", marked("standard", 0), marked("standard", 0), Usage{Applications: 2, Updated: 2}, "Ready=True/Applied Default=True/Default"},
		{"another default", marked("standard", 0), marked("gold", 1), Usage{}, "Ready=True/Applied Default=False/NewerDefault"},
		{"rolling out", unmarked, nil, Usage{Applications: 3, Updated: 1, Waiting: 2}, "Ready=False/RollingOut"},
		{"suspended ones are not waited for", unmarked, nil, Usage{Applications: 3, Updated: 1, Failing: 1}, "Ready=True/Applied"},
		{"invalid", invalid, nil, Usage{}, "Ready=False/Invalid Default="},
	} {
		t.Run(test.name, func(t *testing.T) {
			status := Status(test.class, test.usage, test.chosen, start)
			var conditions []string
			for _, condition := range status.Conditions {
				conditions = append(conditions, condition.Type+"="+string(condition.Status)+"/"+condition.Reason)
			}
			if got := strings.Join(conditions, " "); got != strings.TrimSuffix(test.want, " Default=") {
				t.Errorf("conditions are %s, want %s", got, test.want)
			}
			if got, want := [3]int32{status.Applications, status.Updated, status.Failing}, [3]int32{test.usage.Applications, test.usage.Updated, test.usage.Failing}; got != want {
				t.Errorf("counts are %v, want %v", got, want)
			}
			// Nothing is written again while nothing changes, whatever the time.
			again := test.class.DeepCopy()
			again.Status = status
			if diff := cmp.Diff(status, Status(again, test.usage, test.chosen, start.Add(time.Hour))); diff != "" {
				t.Errorf("an hour later (-first +second):\n%s", diff)
			}
		})
	}
	if ready := meta.FindStatusCondition(Status(invalid, Usage{}, nil, start).Conditions, v1.ConditionReady); !strings.Contains(ready.Message, "spec.defaults.priorityClassName") {
		t.Errorf("the message of an invalid class is %q", ready.Message)
	}
}

// A class that is not the default says what is true of the one that is.
func TestNewerDefaultMessage(t *testing.T) {
	for _, test := range []struct {
		chosen *v1.ApplicationClass
		want   string
	}{
		{marked("gold", 1), "ApplicationClass gold is marked as the default too, and was created later. Take the annotation off one of them."},
		{marked("gold", 0), "ApplicationClass gold is marked as the default too, and was created in the same second and comes first by name. Take the annotation off one of them."},
	} {
		got := meta.FindStatusCondition(Status(marked("standard", 0), Usage{}, test.chosen, start).Conditions, v1.ConditionDefault)
		if got.Reason != v1.ReasonNewerDefault || got.Message != test.want {
			t.Errorf("%s: %s\nwant: %s", got.Reason, got.Message, test.want)
		}
	}
}

// A class names the Applications that fail, and says if it has none, in the words of its column MESSAGE.
func TestReadyMessage(t *testing.T) {
	limit := v1.ReasonClassLimitExceeded
	refused := []behind{{"shop/api", limit}, {"shop/cart", limit}, {"shop/db", limit}, {"shop/web", limit}}
	stalled := []behind{{"shop/job", v1.ReasonProgressDeadlineExceeded}}
	held := []behind{{"shop/a", heldSuspended}, {"shop/b", heldObserved}, {"shop/c", heldPinned}, {"shop/d", heldPaused}}
	for _, test := range []struct {
		usage        Usage
		status       metav1.ConditionStatus
		reason, want string
	}{
		{Usage{}, metav1.ConditionTrue, v1.ReasonApplied, "No Application uses the class."},
		{Usage{Applications: 1, Updated: 1}, metav1.ConditionTrue, v1.ReasonApplied, "All Applications of the class are synced with this generation."},
		{Usage{Applications: 9, Updated: 5, Failing: 4, Refused: refused}, metav1.ConditionFalse, limit,
			"Fairlead refuses 4 of 9 Applications of the class, and leaves their children as they are: shop/api (ClassLimitExceeded), shop/cart, shop/db and 1 more."},
		{Usage{Applications: 1, Failing: 1, Refused: refused[:1]}, metav1.ConditionFalse, limit,
			"Fairlead refuses 1 of 1 Application of the class, and leaves its children as they are: shop/api (ClassLimitExceeded)."},
		{Usage{Applications: 9, Updated: 8, Failing: 1, Stalled: stalled}, metav1.ConditionTrue, v1.ReasonApplied,
			"8 of 9 Applications are synced with this generation. Stalled: shop/job (ProgressDeadlineExceeded)."},
		{Usage{Applications: 3, Updated: 1, Failing: 2, Stalled: append(stalled, behind{"shop/web", v1.ReasonRolledBack})}, metav1.ConditionTrue, v1.ReasonApplied,
			"1 of 3 Applications is synced with this generation. Stalled: shop/job (ProgressDeadlineExceeded), shop/web (RolledBack)."},
		{Usage{Applications: 9, Updated: 5, Held: held}, metav1.ConditionTrue, v1.ReasonApplied,
			"5 of 9 Applications are synced with this generation. This generation may be missing in shop/a (suspended), shop/b (Observe), shop/c (pinned) and 1 more."},
		{Usage{Applications: 9, Updated: 6, Failing: 1, Stalled: stalled, Held: held[:2]}, metav1.ConditionTrue, v1.ReasonApplied,
			"6 of 9 Applications are synced with this generation. This generation may be missing in shop/a (suspended), shop/b (Observe). Stalled: shop/job (ProgressDeadlineExceeded)."},
		{Usage{Applications: 9, Updated: 7, Failing: 1, Refused: refused[:1], Held: held[1:2]}, metav1.ConditionFalse, limit,
			"Fairlead refuses 1 of 9 Applications of the class, and leaves its children as they are: shop/api (ClassLimitExceeded). This generation may be missing in shop/b (Observe)."},
		{Usage{Applications: 9, Updated: 4, Failing: 1, Waiting: 4, Stalled: stalled}, metav1.ConditionFalse, v1.ReasonRollingOut,
			"4 of 9 Applications are synced with this generation. Stalled: shop/job (ProgressDeadlineExceeded)."},
	} {
		class := marked("standard", 0)
		ready := meta.FindStatusCondition(Status(class, test.usage, nil, start).Conditions, v1.ConditionReady)
		if ready.Status != test.status || ready.Reason != test.reason || ready.Message != test.want {
			t.Errorf("Ready is %s/%s: %s\nwant %s/%s: %s", ready.Status, ready.Reason, ready.Message, test.status, test.reason, test.want)
		}
	}
}
