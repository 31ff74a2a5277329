// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestMonitoringOfAClass: who writes the Application cannot remove what its class sets.
func TestMonitoringOfAClass(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	application := loaded.Application
	application.Status.Conditions = append(application.Status.Conditions, metav1.Condition{
		Type: v1.ConditionMonitoringReady, Status: metav1.ConditionFalse, Reason: v1.ReasonAPINotServed, Message: "The cluster does not serve ServiceMonitor.",
	})
	application.Status.Class = &v1.AppliedClass{Name: "platform"}
	for _, test := range []struct {
		own  *v1.Monitoring
		want string
	}{
		{&v1.Monitoring{}, "Install the Prometheus Operator, or remove spec.monitoring."},
		{nil, "Ask the platform team to install the Prometheus Operator, or to leave monitoring out of ApplicationClass platform."},
	} {
		application.Spec.Monitoring = test.own
		found := why.Explain(loaded).Findings
		if len(found) != 1 || !slices.Equal(found[0].Next, []string{test.want}) {
			t.Errorf("%+v, want %q", found, test.want)
		}
	}
}
