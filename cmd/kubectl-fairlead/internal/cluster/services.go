// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// PendingServices returns the Application's Services of type LoadBalancer without an external address. Their pods serve inside of the
// cluster.
func (l *Loaded) PendingServices() (found []*corev1.Service) {
	for _, live := range l.Children {
		service, ok := live.(*corev1.Service)
		if ok && child.OwnedBy(service, l.Application) && service.DeletionTimestamp == nil &&
			service.Spec.Type == corev1.ServiceTypeLoadBalancer && len(service.Status.LoadBalancer.Ingress) == 0 {
			found = append(found, service)
		}
	}
	return found
}
