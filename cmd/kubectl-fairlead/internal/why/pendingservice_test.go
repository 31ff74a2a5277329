// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/summary"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
)

// TestPendingService: kubectl shows EXTERNAL-IP <pending>. status says so too, and why says what that means.
func TestPendingService(t *testing.T) {
	address := []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	for name, test := range map[string]struct {
		kind    corev1.ServiceType
		ingress []corev1.LoadBalancerIngress
		want    string
	}{
		"in the cluster":  {kind: corev1.ServiceTypeClusterIP},
		"without address": {kind: corev1.ServiceTypeLoadBalancer, want: "No controller has given Service cart an external address. Perhaps none in the cluster serves the type LoadBalancer."},
		"with address":    {kind: corev1.ServiceTypeLoadBalancer, ingress: address},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := clustertest.Load(t, "healthy")
			for _, live := range loaded.Children {
				if service, ok := live.(*corev1.Service); ok {
					service.Spec.Type, service.Status.LoadBalancer.Ingress = test.kind, test.ingress
				}
			}
			var got string
			for _, finding := range why.Explain(loaded).Findings {
				if finding.Reason == "NoAddress" {
					got += finding.What
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			noted := slices.Equal(summary.Of(loaded).Notes, []string{"no controller has given Service cart an external address"})
			if noted != (test.want != "") {
				t.Errorf("status has the notes %q", summary.Of(loaded).Notes)
			}
		})
	}
}
