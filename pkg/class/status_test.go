// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
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
	stalled.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue}}
	suspended.Spec.ReconcilePolicy = v1.ReconcileSuspend
	going.DeletionTimestamp = &metav1.Time{Time: start}
	class := marked("standard", 0)
	class.Generation = 2
	got := Count(class, []*v1.Application{synced("standard", 2), stalled, synced("standard", 1), synced("other", 2), suspended, going, {}})
	if want := (Usage{Applications: 7, Updated: 2, Failing: 1, Waiting: 3}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
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
			if got := (Usage{status.Applications, status.Updated, status.Failing, test.usage.Waiting}); got != test.usage {
				t.Errorf("counts are %+v, want %+v", got, test.usage)
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
