// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// pendingService explains a Service of type LoadBalancer without an external address. The pods serve inside of the cluster.
func pendingService(f facts) (found []Finding) {
	for _, live := range f.Children {
		service, ok := live.(*corev1.Service)
		if !ok || !child.OwnedBy(service, f.app) || service.DeletionTimestamp != nil ||
			service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(service.Status.LoadBalancer.Ingress) > 0 {
			continue
		}
		found = append(found, Finding{
			Reason: "NoAddress", What: "No controller has given Service " + service.Name + " an external address. Perhaps none in the cluster serves the type LoadBalancer.",
			Evidence: []Evidence{{Object: child.Service.Kind + "/" + service.Name, Field: "status.loadBalancer", Message: "has no address"}},
			Next:     []string{"Wait a few minutes. If it stays so, ask the platform team for one, or set routes instead."},
		})
	}
	return found
}
