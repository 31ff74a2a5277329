// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Status: class is what is applied, and refusedClass what is not.
func TestClassOfARefusedApplication(t *testing.T) {
	gold := func(generation int64, priority string) *v1.AppliedClass {
		return &v1.AppliedClass{Name: "gold", Generation: generation, Defaults: &v1.ApplicationDefaults{PriorityClassName: priority}}
	}
	refuse := func(in *Input) {
		in.Results, in.Invalid = nil, field.ErrorList{field.Invalid(field.NewPath("spec"), 1, "too many")}
	}
	for _, test := range []struct {
		name             string
		before, class    *v1.AppliedClass
		change           func(*Input)
		wantClass        *v1.AppliedClass
		wantRefusedClass *v1.RefusedClass
	}{
		{"applied", gold(1, "high"), gold(2, "low"), func(*Input) {}, gold(2, "low"), nil},
		{"refused", gold(1, "high"), gold(2, "low"), refuse, gold(1, "high"), &v1.RefusedClass{Name: "gold", Generation: 2}},
		{"refused from the start", nil, gold(2, "low"), refuse, nil, &v1.RefusedClass{Name: "gold", Generation: 2}},
		{"a refused edit of the spec", gold(2, "low"), gold(2, "low"), refuse, gold(2, "low"), nil},
		{"the class is gone", gold(1, "high"), nil, refuse, gold(1, "high"), nil},
	} {
		in := with(func(in *Input, _ *appsv1.Deployment) {
			in.Snapshot.Application.Status.Class, in.Class = test.before, test.class
			test.change(in)
		})
		got := compute(in, noon)
		if diff := cmp.Diff(test.wantClass, got.Class) + cmp.Diff(test.wantRefusedClass, got.RefusedClass); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// A row of kubectl get has room for the summary: with the longest reason of Ready and a name of 15 characters, 120 columns.
func TestSummaryFitsAColumn(t *testing.T) {
	const name, ready, available, reason, age, gaps = 15, len("Unknown"), len("AVAILABLE"), len("ClassLimitExceeded"), len("364d"), 5 * 3
	if width := name + ready + available + reason + maxSummary + age + gaps; width > 120 {
		t.Errorf("a row has %d columns", width)
	}
	for _, scenario := range scenarios() {
		got := compute(scenario.in, noon)
		if length := len([]rune(got.Summary)); length == 0 || length > maxSummary {
			t.Errorf("%s: the summary %q has %d characters", scenario.name, got.Summary, length)
		}
	}
}
