// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
)

// renamedPorts warns of an update that renames a port under which running pods serve. The Service leads to its pods by the name of
// the port, and follows the spec at once.
func renamedPorts(_ context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || in.old == nil || !runsSpec(in.old) || withholds(&in.new.Spec) || toRevision(in.new) != 0 {
		return nil
	}
	if strategy := in.new.Spec.Strategy; strategy != nil && strategy.Type == appsv1.RecreateDeploymentStrategyType && !paused(&in.new.Spec) {
		return nil // The pods of the older revision end in any case.
	}
	names := renamed(in.old.Spec.Ports, in.new.Spec.Ports)
	if len(names) == 0 {
		return nil
	}
	keep := "name "
	if len(names) > 1 {
		keep = "names "
	}
	found.warnings = append(found.warnings, fmt.Sprintf(
		"ports: the Service leads to its pods by the name of the port, so pods of the older revision get no requests%s until they are replaced: keep the %s",
		atPorts(in.old.Spec.Ports, names), keep+strings.Join(names, ", ")))
	return nil
}

// runsSpec reports whether pods of the spec serve, and no others: Ready is about the present spec, which is carried out. Amid a rollout, after
// a rollback, and at the revision of toRevision, the pods may have other ports.
func runsSpec(old *v1.Application) bool {
	ready := meta.FindStatusCondition(old.Status.Conditions, v1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == old.Generation &&
		old.Status.ReadyReplicas > 0 && old.Status.UpdatedReplicas == old.Status.Replicas && !withholds(&old.Spec) && toRevision(old) == 0
}

// renamed returns the names of ports that the update drops although the Service keeps the port, or keeps no name at all.
func renamed(was, is []v1.ApplicationPort) []string {
	if len(is) == 0 {
		return nil // There is no Service any more.
	}
	var dropped, names []string
	for _, port := range was {
		if slices.ContainsFunc(is, func(other v1.ApplicationPort) bool { return other.Name == port.Name }) {
			continue
		}
		dropped = append(dropped, port.Name)
		if slices.ContainsFunc(is, func(other v1.ApplicationPort) bool {
			return render.ServicePort(other) == render.ServicePort(port) && render.Protocol(other.Protocol) == render.Protocol(port.Protocol)
		}) {
			names = append(names, port.Name)
		}
	}
	if len(dropped) == len(was) {
		return dropped
	}
	return names
}

// atPorts says at which ports of the Service the pods get no requests, if they serve at others too.
func atPorts(ports []v1.ApplicationPort, names []string) string {
	if len(names) == len(ports) {
		return ""
	}
	var numbers []string
	for _, port := range ports {
		if slices.Contains(names, port.Name) {
			numbers = append(numbers, fmt.Sprint(render.ServicePort(port)))
		}
	}
	if len(numbers) > 1 {
		return " at ports " + strings.Join(numbers, ", ")
	}
	return " at port " + strings.Join(numbers, ", ")
}
