// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
)

// others are the objects beside the Deployment that an adoption creates or changes.
type others struct {
	missing []child.Ref     // that the Application creates
	taken   []takenRef      // that another owner has
	service *corev1.Service // as the Application has it; nil if it has none
	live    *corev1.Service // the Service that it adopts; nil if there is none, or it is adopted
	policy  string          // a NetworkPolicy that the Application has created already; "" if there is none
	class   string          // from which the NetworkPolicy comes; "" if the Application itself asks for it
	// The Application creates what pods need at once. What selects pods by Fairlead's label waits until all carry it, and what leads to
	// the Service waits until that is adopted.
	atOnce, labelled, served string
}

// findOthers reads which of the rendered objects exist.
func (a *adopting) findOthers(ctx context.Context, application *v1.Application, rendering preview.Rendering) (*others, error) {
	o := &others{}
	if rendering.Class != nil && application.Spec.NetworkPolicy == nil {
		o.class = rendering.Class.Name
	}
	for _, desired := range rendering.Children {
		if desired.Kind == child.Deployment {
			continue
		}
		live, err := a.clients.Dynamic.Resource(desired.Kind.GroupVersionResource()).Namespace(a.namespace).Get(ctx, desired.Name, metav1.GetOptions{})
		owned := err == nil && application.UID != "" && child.OwnedBy(live, application)
		switch {
		case apierrors.IsNotFound(err):
			o.missing = append(o.missing, desired.Ref)
		case err != nil:
			return nil, fmt.Errorf("find out whether %s %s exists already: %w", desired.Kind.Kind, desired.Name, err)
		case owned && desired.Kind == child.NetworkPolicy:
			o.policy = desired.Name
		case owned:
		case desired.Kind == child.Service:
			o.service, o.live = &corev1.Service{}, &corev1.Service{}
			if err := adopt.Convert(desired.Configuration, o.service); err != nil {
				return nil, err
			}
			if err := adopt.Convert(live, o.live); err != nil {
				return nil, err
			}
		default:
			o.taken = append(o.taken, takenRef{desired.Ref, plan.IsLeftover(live)})
		}
	}
	return o, nil
}

// fromAdoption dates what an adoption that begins now creates and changes.
func (o *others) fromAdoption(application *v1.Application, deployment *appsv1.Deployment, differences *adopt.Differences) {
	late := "once every pod is replaced"
	if podsToReplace(deployment) == 0 {
		late = "once you release the rollout"
	}
	o.atOnce, o.labelled, o.served = "at the adoption", "at the adoption", "at the adoption"
	if !differences.Empty() && plan.KeptSelector(application, deployment) != nil {
		o.labelled = late
	}
	if !differences.Empty() && o.live != nil {
		o.served = late
	}
}

// fromRollout dates what is still to do when the pods are released.
func (o *others) fromRollout(deployment *appsv1.Deployment) {
	late := "once every pod is replaced"
	if podsToReplace(deployment) == 0 || runsTemplate(deployment) {
		late = "at once"
	}
	o.atOnce, o.labelled, o.served = "at once", late, "at once"
	if o.live != nil {
		o.served = late
	}
}

// describe returns a sentence for each object. The NetworkPolicy comes first, because it may part the pods from their clients, and from
// what they need.
func (o *others) describe() (said []string) {
	for _, ref := range o.missing {
		when := o.atOnce
		switch ref.Kind {
		case child.ControllerRevision:
			continue // It records what the pods have.
		case child.NetworkPolicy:
			said = slices.Insert(said, 0, "Also created, "+o.labelled+": NetworkPolicy "+ref.Name+". "+o.restricts())
			continue
		case child.PodDisruptionBudget:
			when = o.labelled
		case child.Ingress, child.HTTPRoute, child.ServiceMonitor:
			when = o.served
		}
		said = append(said, "Also created, "+when+": "+ref.Kind.Kind+" "+ref.Name+".")
	}
	if o.policy != "" {
		said = slices.Insert(said, 0, "NetworkPolicy "+o.policy+" exists already, and restricts the connections to and from each new pod. "+o.source())
	}
	if o.live != nil {
		if changes := serviceChanges(o.service, o.live); len(changes) > 0 {
			said = append(said, "The Service "+o.live.Name+" will change "+o.served+": "+strings.Join(changes, "; ")+".")
		}
	}
	return said
}

// restricts says what the NetworkPolicy does, and where to change it.
func (o *others) restricts() string {
	return "From then on, it restricts the connections to and from the pods. " + o.source()
}

// source says where to change the NetworkPolicy.
func (o *others) source() string {
	if o.class == "" {
		return "It allows what spec.networkPolicy of the Application says."
	}
	return "It comes from class " + o.class + ", because the Application does not say what it needs: set spec.networkPolicy before you release the pods."
}

// serviceChanges says how the Service changes. That its ports lead to the same ports of the pods is a condition of the adoption.
func serviceChanges(rendered, live *corev1.Service) (changes []string) {
	number := func(port corev1.ServicePort) string {
		if port.Protocol == "" || port.Protocol == corev1.ProtocolTCP {
			return fmt.Sprint(port.Port)
		}
		return fmt.Sprintf("%d/%s", port.Port, port.Protocol)
	}
	for _, port := range rendered.Spec.Ports {
		if !slices.ContainsFunc(live.Spec.Ports, func(has corev1.ServicePort) bool { return number(has) == number(port) }) {
			changes = append(changes, "port "+number(port)+" ("+port.Name+") is added")
		}
	}
	if !maps.Equal(rendered.Spec.Selector, live.Spec.Selector) {
		changes = append(changes, "the selector "+labels.FormatLabels(live.Spec.Selector)+" becomes "+labels.FormatLabels(rendered.Spec.Selector))
	}
	if rendered.Spec.Type != "" && rendered.Spec.Type != live.Spec.Type {
		changes = append(changes, fmt.Sprintf("the type %s becomes %s", live.Spec.Type, rendered.Spec.Type))
	}
	return changes
}

// announceReleased says what the release of the pods does, and what it does beside that. A user without permission to read that may release
// them nevertheless.
func (a *adopting) announceReleased(ctx context.Context, application *v1.Application, deployment *appsv1.Deployment) {
	to, waits := a.tool.screen(), missingConfig(application, application)
	o, err := a.othersOf(ctx, application)
	spec := (*refusedError)(nil)
	if errors.As(err, &spec) {
		waits = spec.notCarriedOut()
	}
	printRollout(to, a.id(), deployment, waits)
	switch {
	case spec != nil:
	case err != nil:
		fmt.Fprintln(a.tool.ErrOut, "What else the rollout changes is not known: "+explain(err))
	default:
		o.fromRollout(deployment)
		for _, said := range o.describe() {
			to.Hanging("  ", said)
		}
	}
}

// othersOf renders an Application that exists.
func (a *adopting) othersOf(ctx context.Context, application *v1.Application) (*others, error) {
	checker, err := a.editing.from.checker()
	if err != nil {
		return nil, err
	}
	existing := application.DeepCopy()
	existing.APIVersion, existing.Kind = v1.SchemeGroupVersion.String(), v1.ApplicationKind
	a.options.Harden = true // It is about drafts only.
	rendering, err := a.render(ctx, existing, checker)
	if err != nil {
		return nil, err
	}
	return a.findOthers(ctx, application, rendering)
}
