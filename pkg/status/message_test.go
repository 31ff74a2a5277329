// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestInvalidMessage(t *testing.T) {
	var errors field.ErrorList
	for range 7 {
		errors = append(errors, field.Invalid(field.NewPath("spec", "ports"), strings.Repeat("é", maxMessage), "must be less"))
	}
	got := invalidMessage(errors)
	if !strings.HasSuffix(got, "; and 2 more") || strings.Count(got, "spec.ports: Invalid value") != 5 || len(got) > maxMessage {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if got := invalidMessage(errors[:1]); strings.Contains(got, "more") {
		t.Error(got)
	}
	const advice = "this field is no part of the revision: change it, name another revision, or remove toRevision"
	pinned := field.Forbidden(field.NewPath("spec", "autoscaling", "targetCPUUtilizationPercentage"), "in revision 1, which spec.rollback.toRevision asks for: "+
		"utilization is a share of the request, but the revision has no resources.requests[cpu]; "+advice)
	for n := 1; n <= 3; n++ {
		if got := invalidMessage(slices.Repeat(field.ErrorList{pinned}, n)); strings.Count(got, advice) != n || len(got) > maxMessage {
			t.Errorf("%d errors, cut although there is room: %s", n, got)
		}
	}
}

func TestBounded(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("x", maxMessage), strings.Repeat("é", maxMessage), "x" + strings.Repeat("é", maxMessage), "bad \xff"} {
		got := bounded(text)
		if len(got) > maxMessage || strings.ToValidUTF8(got, "?") != got {
			t.Errorf("%d bytes: %q", len(got), got)
		}
		if len(text) <= maxMessage && len(got) != len(text) {
			t.Errorf("%q became %q", text, got)
		}
		if len(text) > maxMessage && (!strings.HasSuffix(got, "…") || len(got) < maxMessage-4) {
			t.Errorf("%q is not cut well", got)
		}
	}
}
