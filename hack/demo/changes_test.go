// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestChanges(t *testing.T) {
	s := style{unicode: true}
	moreReady := startingApplication("web")
	moreReady.Status.Conditions[0].Message = "2 of 3 pods are updated, 1 available."

	tests := []struct {
		name          string
		before, after *v1.Application
		want          string
	}{
		{
			name:  "just created",
			after: application("web"),
			want:  "",
		},
		{
			name:   "seen by the controller",
			before: application("web"),
			after:  startingApplication("web"),
			want: `
			✔ web: Deployment web Synced
			… web: Service web Pending: It is being deleted by others.
			… web: Ready=False/RollingOut: 1 of 3 pods are updated, 0 available.
			… web: Reconciling=True/RollingOut, Available=False/MinimumReplicasUnavailable
			`,
		},
		{
			name:   "more pods",
			before: startingApplication("web"),
			after:  moreReady,
			want: `
			… web: Ready=False/RollingOut: 2 of 3 pods are updated, 1 available.
			`,
		},
		{
			name:   "ready",
			before: startingApplication("web"),
			after:  readyApplication("web"),
			want: `
			✔ web: Service web Synced
			✔ web: Ready=True: All 2 pods are available, of the current revision.
			✘ web: Available=True/MinimumReplicasAvailable, AutoscalingActive=False/FailedGetResourceMetric, Reconciling is over
			`,
		},
		{
			name:   "nothing",
			before: readyApplication("web"),
			after:  readyApplication("web"),
			want:   "",
		},
		{
			name:   "fewer children",
			before: readyApplication("web"),
			after: application("web",
				withCondition(v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady, "All 2 pods are available, of the current revision."),
				withChild("Deployment", "web", v1.ResourceSynced, "")),
			want: `
			… web: Service web gone
			✔ web: Available is over, AutoscalingActive is over
			`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expectLines(t, s, changes(test.before, test.after, s), test.want)
		})
	}
}
