// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/status"
)

// TestWhyRepaired names what a user knows, and no annotation in which Fairlead keeps its state.
func TestWhyRepaired(t *testing.T) {
	const hash = ".metadata.annotations." + v1.AnnotationRenderedHash
	for _, test := range []struct {
		kind   child.Kind
		fields []string
		want   string
	}{
		{child.Deployment, []string{hash}, "another client, such as kubectl rollout undo, changed annotations in which Fairlead keeps its state"},
		{child.Service, []string{hash}, "another client changed annotations in which Fairlead keeps its state"},
		{child.Deployment, []string{hash, ".spec.replicas"}, "another client changed .spec.replicas; change the Application instead"},
		{child.Service, []string{".metadata.annotations.team"}, "another client changed .metadata.annotations.team; change the Application instead"},
	} {
		result := plan.Result{Step: plan.Step{Action: plan.Apply, Ref: child.Ref{Kind: test.kind}, Fields: test.fields}}
		if got := status.WhyRepaired(result); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.kind.Kind, test.fields, got, test.want)
		}
	}
}
