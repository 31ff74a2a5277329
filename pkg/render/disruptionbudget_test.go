// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
)

func TestDisruptionBudget(t *testing.T) {
	const common = `
unhealthyPodEvictionPolicy: AlwaysAllow
selector: {matchLabels: {apps.fairlead.dev/application: web}}
`
	checkFragments(t, child.PodDisruptionBudget, "spec", []fragmentCase{
		{"auto: open number", ``, ``},
		{"auto: no pod", `replicas: 0`, ``},
		{"auto: one pod", `replicas: 1`, ``},
		{"auto: two pods", `{replicas: 2, disruptionBudget: {mode: Auto}}`, common + `maxUnavailable: 1`},
		{"auto: autoscaled from 1", `autoscaling: {maxReplicas: 4}`, ``},
		{"auto: autoscaled from 2", `autoscaling: {minReplicas: 2, maxReplicas: 4}`, common + `maxUnavailable: 1`},
		{"auto: autoscaled without room", `autoscaling: {minReplicas: 2, maxReplicas: 2}`, common + `maxUnavailable: 1`},
		{"custom: least", `disruptionBudget: {mode: Custom, minAvailable: 50%}`, common + `minAvailable: 50%`},
		{"custom: most", `{replicas: 5, disruptionBudget: {mode: Custom, maxUnavailable: 2}}`, common + `maxUnavailable: 2`},
		{"custom, invalid: nothing", `{replicas: 5, disruptionBudget: {mode: Custom}}`, ``},
		{"disabled", `{replicas: 5, disruptionBudget: {mode: Disabled}}`, ``},
	})
}

// TestDisruptionBudgetOfLiveReplicas: where another client or an autoscaler sets the number of pods, the Deployment has it.
func TestDisruptionBudgetOfLiveReplicas(t *testing.T) {
	for _, test := range []struct {
		spec     string
		replicas int32
		want     bool
	}{
		{``, 1, false},
		{``, 2, true},
		{`autoscaling: {maxReplicas: 4}`, 1, false},
		{`autoscaling: {maxReplicas: 4}`, 3, true},
		{`autoscaling: {minReplicas: 2, maxReplicas: 4}`, 0, true},
		{`replicas: 1`, 3, false}, // That is drift.
		{`disruptionBudget: {mode: Disabled}`, 3, false},
	} {
		children := renderedWith(t, application(t, test.spec), render.Facts{Replicas: test.replicas})
		if got := len(ofKind(t, children, child.PodDisruptionBudget)) > 0; got != test.want {
			t.Errorf("%q with %d pods: a budget is %t, want %t", test.spec, test.replicas, got, test.want)
		}
	}
}
