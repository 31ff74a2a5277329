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
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
)

// renamedPorts warns of an update that renames a port under which running pods serve. The Service leads to its pods by the name of
// the port, and follows the spec at once.
func renamedPorts(_ context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || in.old == nil || !runsSpec(in.old) || in.new.Spec.ReconcilePolicy.Withholds() || toRevision(in.new) != 0 {
		return nil
	}
	if strategy := in.new.Spec.Strategy; strategy != nil && strategy.Type == appsv1.RecreateDeploymentStrategyType && !paused(&in.new.Spec) {
		return nil // The pods of the older revision end in any case.
	}
	names, numbers := renamed(in.old.Spec.Ports, in.new.Spec.Ports)
	if len(names) == 0 {
		return nil
	}
	keep := "keeps the name "
	switch {
	case len(names) > 1:
		keep = "keeps the names "
	case slices.ContainsFunc(in.new.Spec.Ports, func(port v1.ApplicationPort) bool { return port.Name == names[0] }):
		keep = "leaves port " + numbers[0] + " to " // The name moved to another number.
	}
	found.warnings = append(found.warnings, fmt.Sprintf(
		"spec.ports: the Service leads to its pods by the name of the port, so pods of the older revision get no requests%s until they are replaced, unless the spec %s",
		atPorts(numbers), keep+strings.Join(names, ", ")))
	return nil
}

// removedPorts warns of an update that removes all ports, and with them the Service. One that is not the Application's stays.
func (h *Handler) removedPorts(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || in.old == nil || len(in.old.Spec.Ports) == 0 || len(in.new.Spec.Ports) > 0 || in.new.Spec.ReconcilePolicy.Withholds() || toRevision(in.new) != 0 ||
		h.lacksOwn(ctx, in.new, child.Service) {
		return nil
	}
	found.warnings = append(found.warnings, fmt.Sprintf("spec.ports: without ports the Application has no Service, so Fairlead deletes Service %s, and its address is gone", in.new.Name))
	return nil
}

// runsSpec reports whether pods of the spec serve, and no others: Ready is about the present spec, which is carried out. Amid a rollout, after
// a rollback, and at the revision of toRevision, the pods may have other ports.
func runsSpec(old *v1.Application) bool {
	ready := meta.FindStatusCondition(old.Status.Conditions, v1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == old.Generation &&
		old.Status.ReadyReplicas > 0 && old.Status.UpdatedReplicas == old.Status.Replicas && !old.Spec.ReconcilePolicy.Withholds() && toRevision(old) == 0
}

// renamed returns the names of ports that the update drops although the Service keeps their number under another name, and these numbers.
// There are no numbers if it keeps no name at all: then all ports are meant.
func renamed(was, is []v1.ApplicationPort) (names, numbers []string) {
	if len(is) == 0 {
		return nil, nil // There is no Service any more.
	}
	var dropped []string
	for _, port := range was {
		if !slices.ContainsFunc(is, func(other v1.ApplicationPort) bool { return other.Name == port.Name }) {
			dropped = append(dropped, port.Name)
		}
	}
	if len(dropped) == len(was) {
		return dropped, nil
	}
	for _, port := range is {
		if slices.ContainsFunc(was, func(former v1.ApplicationPort) bool { return former.Name == port.Name }) {
			continue
		}
		i := slices.IndexFunc(was, func(former v1.ApplicationPort) bool {
			return render.ServicePort(former) == render.ServicePort(port) && render.Protocol(former.Protocol) == render.Protocol(port.Protocol)
		})
		if i < 0 {
			continue
		}
		numbers = append(numbers, fmt.Sprint(render.ServicePort(port)))
		if slices.Contains(dropped, was[i].Name) || len(dropped) == 0 {
			names = append(names, was[i].Name)
		}
	}
	if len(numbers) > 0 && len(names) == 0 {
		names = dropped // The numbers changed places too.
	}
	return names, numbers
}

// atPorts says at which ports of the Service the pods get no requests, if they serve at others too.
func atPorts(numbers []string) string {
	switch len(numbers) {
	case 0:
		return ""
	case 1:
		return " at port " + numbers[0]
	default:
		return " at ports " + strings.Join(numbers, ", ")
	}
}
