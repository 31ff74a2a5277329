// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
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
