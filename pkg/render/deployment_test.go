// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestStrategy(t *testing.T) {
	checkFragments(t, child.Deployment, "spec.strategy", []fragmentCase{
		{"default", ``, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 25%}}`},
		{"empty", `strategy: {}`, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 25%}}`},
		{"only maxSurge", `strategy: {rollingUpdate: {maxSurge: 1}}`, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}`},
		{"only maxUnavailable", `strategy: {rollingUpdate: {maxUnavailable: 50%}}`, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 50%, maxSurge: 25%}}`},
		{"both", `strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 2}}`, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 2}}`},
		{"no surge", `strategy: {rollingUpdate: {maxSurge: 0}}`, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}`},
		{"no surge, in percent", `strategy: {rollingUpdate: {maxSurge: 0%}}`, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0%}}`},
		{"invalid: both zero", `strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}`, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 0}}`},
		{"recreate", `strategy: {type: Recreate}`, `{type: Recreate}`},
	})
}

func TestDeploymentReplicas(t *testing.T) {
	for _, test := range []struct{ name, spec, replicas, managed string }{
		{"open", ``, ``, ``},
		{"fixed", `replicas: 3`, `3`, `true`},
		{"none", `replicas: 0`, `0`, `true`},
		{"autoscaled", `autoscaling: {minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 70}`, ``, ``},
		{"no room to scale", `autoscaling: {minReplicas: 4, maxReplicas: 4}`, `4`, `true`},
	} {
		t.Run(test.name, func(t *testing.T) {
			children := rendered(t, application(t, test.spec))
			wantYAML(t, "replicas", fragment(t, children, child.Deployment, "spec.replicas"), test.replicas)
			annotations := ofKind(t, children, child.Deployment)[0].GetAnnotations()
			if got := annotations["apps.fairlead.dev/replicas-managed"]; got != test.managed {
				t.Errorf("annotation: got %q, want %q", got, test.managed)
			}
		})
	}
}

func TestRolloutNumbers(t *testing.T) {
	for _, test := range []struct {
		path  string
		cases []fragmentCase
	}{
		{"spec.minReadySeconds", []fragmentCase{
			{"default", ``, ``},
			{"zero, which would not come back", `minReadySeconds: 0`, ``},
			{"given", `minReadySeconds: 10`, `10`},
		}},
		{"spec.progressDeadlineSeconds", []fragmentCase{
			{"default", ``, `600`},
			{"given", `progressDeadlineSeconds: 60`, `60`},
		}},
		{"spec.revisionHistoryLimit", []fragmentCase{
			{"default", ``, `5`},
			{"zero", `revisionHistoryLimit: 0`, `0`},
		}},
		{"spec.paused", []fragmentCase{
			{"default", ``, ``},
			{"false, which would not come back", `paused: false`, ``},
			{"true", `paused: true`, `true`},
		}},
	} {
		t.Run(test.path, func(t *testing.T) { checkFragments(t, child.Deployment, test.path, test.cases) })
	}
}
