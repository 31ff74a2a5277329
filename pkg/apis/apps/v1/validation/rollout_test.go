// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestStrategy(t *testing.T) {
	run(t, []testCase{{
		name: "only one half",
		spec: `strategy: {rollingUpdate: {maxSurge: 0}}`,
	}, {
		name: "only the other half",
		spec: `strategy: {rollingUpdate: {maxUnavailable: 0%}}`,
	}, {
		name: "a large surge",
		spec: `strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 300%, maxUnavailable: 100%}}`,
	}, {
		name: "recreate",
		spec: `{strategy: {type: Recreate}, minReadySeconds: 599}`,
	}, {
		name: "two zeros",
		spec: `strategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0}}`,
		want: []string{`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0": must be more than 0 while maxSurge is 0: otherwise no pod could ever be replaced`},
	}, {
		name: "syntax",
		spec: `strategy: {rollingUpdate: {maxSurge: "25", maxUnavailable: -1}}`,
		want: []string{
			`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: -1: must be greater than or equal to 0`,
			`spec.strategy.rollingUpdate.maxSurge: Invalid value: "25": must be a number of pods, or a percentage such as 25%`,
		},
	}, {
		name: "too much",
		spec: `strategy: {rollingUpdate: {maxSurge: 99999999999%, maxUnavailable: 101%}}`,
		want: []string{
			`spec.strategy.rollingUpdate.maxSurge: Invalid value: "99999999999%": must be a number of pods, or a percentage such as 25%`,
			`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be more than 100%`,
		},
	}, {
		name: "types",
		spec: `strategy: {type: Recreate, rollingUpdate: {}}`,
		want: []string{`spec.strategy.rollingUpdate: Forbidden: strategy.rollingUpdate needs type RollingUpdate`},
	}, {
		name: "no such type",
		spec: `strategy: {type: Canary}`,
		want: []string{`spec.strategy.type: Unsupported value: "Canary": supported values: "RollingUpdate", "Recreate"`},
	}, {
		name: "times",
		spec: `{minReadySeconds: 600, progressDeadlineSeconds: 600}`,
		want: []string{`spec.minReadySeconds: Invalid value: 600: must be less than progressDeadlineSeconds (600)`},
	}, {
		name: "times out of range",
		spec: `{minReadySeconds: -1, progressDeadlineSeconds: 86401}`,
		want: []string{
			`spec.minReadySeconds: Invalid value: -1: must be between 0 and 86400`,
			`spec.progressDeadlineSeconds: Invalid value: 86401: must be between 1 and 86400`,
		},
	}, {
		name: "the default deadline",
		spec: `minReadySeconds: 600`,
		want: []string{`spec.minReadySeconds: Invalid value: 600: must be less than progressDeadlineSeconds (600)`},
	}})
}

func TestDisruptionBudget(t *testing.T) {
	run(t, []testCase{
		{name: "auto", spec: `disruptionBudget: {}`},
		{name: "disabled", spec: `disruptionBudget: {mode: Disabled}`},
		{name: "one of three may go", spec: `{replicas: 3, disruptionBudget: {mode: Custom, minAvailable: 2}}`},
		{name: "half of two may go", spec: `{replicas: 2, disruptionBudget: {mode: Custom, minAvailable: 50%}}`},
		{name: "a share rounds up", spec: `{replicas: 3, disruptionBudget: {mode: Custom, maxUnavailable: 1%}}`},
		{name: "nothing to disrupt", spec: `{replicas: 0, disruptionBudget: {mode: Custom, minAvailable: 1}}`},
		{name: "an open number", spec: `disruptionBudget: {mode: Custom, minAvailable: 5}`},
		{name: "none need stay", spec: `{replicas: 1, disruptionBudget: {mode: Custom, minAvailable: 0}}`},
		{
			name: "numbers without Custom",
			spec: `disruptionBudget: {minAvailable: 1}`,
			want: []string{`spec.disruptionBudget: Forbidden: minAvailable and maxUnavailable need mode Custom`},
		}, {
			name: "no such mode",
			spec: `disruptionBudget: {mode: Manual}`,
			want: []string{`spec.disruptionBudget.mode: Unsupported value: "Manual": supported values: "Auto", "Custom", "Disabled"`},
		}, {
			name: "neither",
			spec: `disruptionBudget: {mode: Custom}`,
			want: []string{`spec.disruptionBudget: Required value: exactly one of minAvailable, maxUnavailable must be set`},
		}, {
			name: "both",
			spec: `{replicas: 3, disruptionBudget: {mode: Custom, minAvailable: 1, maxUnavailable: 1}}`,
			want: []string{`spec.disruptionBudget: Forbidden: exactly one of minAvailable, maxUnavailable may be set: keep one of minAvailable, maxUnavailable`},
		}, {
			name: "none may go",
			spec: `disruptionBudget: {mode: Custom, maxUnavailable: 0%}`,
			want: []string{`spec.disruptionBudget.maxUnavailable: Invalid value: "0%": must be more than 0, because it would block every drain of a node`},
		}, {
			name: "more than all may go",
			spec: `disruptionBudget: {mode: Custom, maxUnavailable: 101%}`,
			want: []string{`spec.disruptionBudget.maxUnavailable: Invalid value: "101%": must not be more than 100%`},
		}, {
			name: "all must stay",
			spec: `disruptionBudget: {mode: Custom, minAvailable: 100%}`,
			want: []string{`spec.disruptionBudget.minAvailable: Invalid value: "100%": must be less than 100%, because it would block every drain of a node`},
		}, {
			name: "all of the fixed number must stay",
			spec: `{replicas: 2, disruptionBudget: {mode: Custom, minAvailable: 51%}}`,
			want: []string{`spec.disruptionBudget.minAvailable: Invalid value: "51%": would block every drain of a node while there are only 2 pods: lower it, or run more pods`},
		}, {
			name: "the only one must stay",
			spec: `{replicas: 1, disruptionBudget: {mode: Custom, minAvailable: 1%}}`,
			want: []string{`spec.disruptionBudget.minAvailable: Invalid value: "1%": would block every drain of a node while there is only 1 pod: lower it, or run more pods`},
		}, {
			name: "all of the fewest must stay",
			spec: `{resources: {requests: {cpu: 1}}, autoscaling: {minReplicas: 3, maxReplicas: 9, targetCPUUtilizationPercentage: 50}, disruptionBudget: {mode: Custom, minAvailable: 3}}`,
			want: []string{`spec.disruptionBudget.minAvailable: Invalid value: "3": would block every drain of a node while there are only 3 pods: lower it, or run more pods`},
		}, {
			name: "syntax",
			spec: `disruptionBudget: {mode: Custom, minAvailable: half}`,
			want: []string{`spec.disruptionBudget.minAvailable: Invalid value: "half": must be a number of pods, or a percentage such as 25%`},
		},
	})
}
