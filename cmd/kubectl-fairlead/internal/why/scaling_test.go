// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestNamesTheAutoscaler wants the autoscaler that scales the Deployment against spec.replicas by its name.
func TestNamesTheAutoscaler(t *testing.T) {
	const (
		evidence = "   - HorizontalPodAutoscaler/auto spec.scaleTargetRef: Deployment web\n"
		next     = "   → HorizontalPodAutoscaler auto scales this Deployment: remove spec.replicas, or delete it.\n"
	)
	for _, test := range []struct {
		name, field string
		want        bool
	}{
		{"the number of pods", ".spec.replicas", true},
		{"another field", ".spec.minReadySeconds", false},
	} {
		loaded := clustertest.Load(t, "contended")
		loaded.Scalers, loaded.Application.Spec.Replicas = []string{"auto"}, new(int32(2))
		message := "Another writer keeps changing " + test.field + "; repair is backing off."
		for i := range loaded.Application.Status.Resources {
			resource := &loaded.Application.Status.Resources[i]
			resource.State = v1.ResourceSynced
			if resource.Kind == child.Deployment.Kind {
				resource.State, resource.Message = v1.ResourceFailed, message
			}
		}
		loaded.Application.Status.Conditions[0].Message = "Deployment web: " + message
		if got := why.ReplicasContended(loaded.Application); got != test.want {
			t.Errorf("%s: contended is %t", test.name, got)
		}
		var text strings.Builder
		why.Explain(loaded).Print(screen.Fixed(&text, 160, false), treetest.Now)
		if got := strings.Contains(text.String(), evidence) && strings.Contains(text.String(), next); got != test.want {
			t.Errorf("%s: named is %t:\n%s", test.name, got, text.String())
		}
	}
}
