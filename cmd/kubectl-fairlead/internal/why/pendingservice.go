// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import "fairlead.dev/fairlead/pkg/child"

// pendingService explains a Service of type LoadBalancer without an external address.
func pendingService(f facts) (found []Finding) {
	for _, service := range f.PendingServices() {
		found = append(found, Finding{
			Reason: "NoAddress", What: "No controller has given Service " + service.Name + " an external address. Perhaps none in the cluster serves the type LoadBalancer.",
			Evidence: []Evidence{{Object: child.Service.Kind + "/" + service.Name, Field: "status.loadBalancer", Message: "has no address"}},
			Next:     []string{"Wait a few minutes. If it stays so, ask the platform team for one, or set routes instead."},
		})
	}
	return found
}
