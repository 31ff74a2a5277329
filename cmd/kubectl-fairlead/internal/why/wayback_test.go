// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestWayBackFromARefusal: a policy refuses the new pods, and revision 1 runs.
func TestWayBackFromARefusal(t *testing.T) {
	const back = "   → Or go back to revision 1, which was accepted and still runs: kubectl fairlead undo web --to-revision=1\n"
	for _, test := range []struct {
		name, kind, reason string
		change             func(*cluster.Loaded)
		want               bool
	}{
		{"a policy", child.Deployment.Kind, v1.ReasonPolicyDenied, func(*cluster.Loaded) {}, true},
		{"the API server", child.Deployment.Kind, v1.ReasonChildRefused, func(*cluster.Loaded) {}, true},
		{"another child", child.ServiceAccount.Kind, v1.ReasonPolicyDenied, func(*cluster.Loaded) {}, false},
		{"another reason", child.Deployment.Kind, v1.ReasonPermissionDenied, func(*cluster.Loaded) {}, false},
		{"something else than the pods", child.Deployment.Kind, v1.ReasonPolicyDenied, func(l *cluster.Loaded) { l.Application.Spec.Image = "example.com/web:1" }, false},
		{"a field of the class", child.Deployment.Kind, v1.ReasonPolicyDenied, func(l *cluster.Loaded) {
			l.Application.Spec.Image, l.Application.Spec.Command, l.Application.Status.Class = "example.com/web:1", []string{"web"}, &v1.AppliedClass{Name: "platform"}
		}, false},
		{"no revision is left", child.Deployment.Kind, v1.ReasonPolicyDenied, func(l *cluster.Loaded) { remove(l, child.ControllerRevision) }, false},
		{"the Deployment is gone", child.Deployment.Kind, v1.ReasonPolicyDenied, func(l *cluster.Loaded) {
			l.Application.Status.Resources = append(l.Application.Status.Resources, v1.ResourceStatus{Group: "apps", Kind: child.Deployment.Kind, Name: "web"})
			l.Children = nil
		}, false},
	} {
		loaded := clustertest.Load(t, "paused")
		test.change(loaded)
		loaded.Application.Spec.Paused = nil
		meta.RemoveStatusCondition(&loaded.Application.Status.Conditions, v1.ConditionPaused)
		loaded.Application.Status.Revision = &v1.RevisionStatus{Current: 1, LastHealthy: 1}
		ready := meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady)
		ready.Reason, ready.Message = test.reason, test.kind+" web: no."
		setResource(loaded, test.kind, v1.ResourceFailed, "no.")
		wantParts(t, test.name, first(printed(t, loaded)), map[string]bool{back: test.want})
	}
}
