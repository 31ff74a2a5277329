// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
)

// portsWithoutPods explains ports of the Service that lead to no pod. The Service leads to its pods by the names of the ports, and follows the
// spec at once; the pods follow with their rollout.
func portsWithoutPods(f facts) []Finding {
	service := child.Get[*corev1.Service](f.Snapshot(), child.Service, f.app.Name)
	if service == nil || !child.OwnedBy(service, f.app) || f.app.DeletionTimestamp != nil {
		return nil
	}
	var found []Finding
	for _, port := range tree.UnservedPorts(f.Objects, service) {
		reason, former := "no container of the ready pods has that port", f.formerName(port)
		if former != "" {
			reason = "the pods have it under another name"
		}
		finding := Finding{
			Reason: "PortUnserved", What: fmt.Sprintf("Port %s of the Service leads to no pod: %s.", port, reason),
			Evidence: []Evidence{{Object: child.Service.Kind + "/" + service.Name, Field: "spec.ports", Message: fmt.Sprintf("the EndpointSlices have no port %q", port)}},
			Next:     f.letPodsFollow(),
		}
		if former != "" {
			step := fmt.Sprintf("keep the name %s in spec.ports until the pods are replaced.", former)
			if len(finding.Next) > 0 {
				finding.Next = append(finding.Next, "Or "+step)
			} else {
				finding.Next = []string{strings.ToUpper(step[:1]) + step[1:]}
			}
		}
		found = append(found, finding)
	}
	return found
}

// formerName is the name under which ready pods have the port of the spec; "" if they lack it.
func (f facts) formerName(name string) string {
	i := slices.IndexFunc(f.app.Spec.Ports, func(port v1.ApplicationPort) bool { return port.Name == name })
	if i < 0 {
		return ""
	}
	for _, pod := range f.Pods {
		if pod.DeletionTimestamp != nil || !tree.PodReady(pod) {
			continue
		}
		for _, container := range pod.Spec.Containers {
			for _, port := range container.Ports {
				if port.ContainerPort == f.app.Spec.Ports[i].ContainerPort && port.Name != "" && port.Name != name {
					return port.Name
				}
			}
		}
	}
	return ""
}

// letPodsFollow is how the pods get the ports of the spec; nothing if they do not follow it.
func (f facts) letPodsFollow() []string {
	adopted, paused := f.condition(v1.ConditionAdopted), f.app.Spec.Paused != nil && *f.app.Spec.Paused
	switch {
	case f.app.IsRolledBack(), edit.PinOf(f.app) > 0, f.ready != nil && slices.Contains(v1.RefusalReasons, f.ready.Reason):
		return nil
	case paused && adopted != nil && adopted.Reason == v1.ReasonPodsHeld:
		return []string{"Replace the pods: kubectl fairlead adopt " + f.app.Name + " --rollout"}
	case paused, f.app.Spec.ReconcilePolicy == v1.ReconcileObserve:
		return []string{"Let the rollout go on: kubectl fairlead resume " + f.app.Name}
	default:
		return []string{"Wait for the rollout: new pods have that port."}
	}
}
