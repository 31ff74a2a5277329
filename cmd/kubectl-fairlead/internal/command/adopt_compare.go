// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
)

// compare renders the Application, and finds out what its children mean for the pods and the other objects, without storing anything.
func (a *adopting) compare(ctx context.Context, draft *v1.Application) (*adopt.Differences, *others, error) {
	checker, err := a.editing.from.checker()
	if err != nil {
		return nil, nil, err
	}
	rendering, err := a.render(ctx, draft, checker)
	if err != nil {
		return nil, nil, err
	}
	if err := adopt.Refusal(a.tool.differ, draft, rendering.Children, a.deployment, a.service); err != nil {
		if a.existing {
			err = fmt.Errorf("%w. Correct the Application; or delete it, and %s writes one that fits", err, a.command("--harden"))
		}
		return nil, nil, err
	}
	others, err := a.findOthers(ctx, draft, rendering)
	if err != nil {
		return nil, nil, err
	}
	// The Application would be stuck half way.
	if err := takenError(others.taken, a.existing); err != nil {
		return nil, nil, err
	}
	differences, err := a.comparePods(ctx, rendering.Children)
	if err != nil {
		return nil, nil, err
	}
	others.fromAdoption(draft, a.deployment, differences)
	return differences, others, nil
}

// comparePods lets the API server complete the pod template that the Application would have.
func (a *adopting) comparePods(ctx context.Context, children []child.Desired) (*adopt.Differences, error) {
	next := &appsv1.Deployment{}
	for _, desired := range children {
		if desired.Kind == child.Deployment {
			if err := adopt.Convert(desired.Configuration, next); err != nil {
				return nil, err
			}
		}
	}
	next.ObjectMeta = metav1.ObjectMeta{GenerateName: a.name + "-"}
	next, err := a.clients.Kube.AppsV1().Deployments(a.namespace).Create(ctx, next, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, fmt.Errorf("let the API server complete the pod template: %w", err)
	}
	container, err := adopt.Container(a.deployment, a.options)
	if err != nil {
		return nil, err
	}
	return adopt.Compare(a.deployment, container, &next.Spec.Template)
}

// render renders the draft. Where the user may not read the class that the draft would have, the aggregated API
// renders it, if there is one.
func (a *adopting) render(ctx context.Context, draft *v1.Application, checker *manifest.Checker) (preview.Rendering, error) {
	platform, err := a.editing.from.platformOf(ctx, a.tool, draft, checker)
	if denied := (*classesForbiddenError)(nil); errors.As(err, &denied) {
		answer, served, err := a.tool.askServer(ctx, draft)
		switch {
		case !served:
			return preview.Rendering{}, denied
		case err == nil:
			rendering := preview.Rendering{}
			if answer.Class != "" {
				rendering.Class = &v1.AppliedClass{Name: answer.Class}
			}
			rendering.Children, err = servedChildren(answer)
			return rendering, err
		}
		if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Details != nil {
			for _, cause := range status.Status().Details.Causes {
				if !a.options.Harden && field.ErrorType(cause.Type) == field.ErrorTypeForbidden && isAboutSecurity(cause.Field) {
					return preview.Rendering{}, needsHarden(cause.Field)
				}
			}
		}
		return preview.Rendering{}, err
	}
	if err != nil {
		return preview.Rendering{}, err
	}
	rendering, err := preview.Render(draft, child.Snapshot{Application: draft}, platform, a.tool.now())
	if err != nil {
		return preview.Rendering{}, err
	}
	for _, refusal := range rendering.Invalid {
		if !a.options.Harden && refusal.Type == field.ErrorTypeForbidden && isAboutSecurity(refusal.Field) {
			return preview.Rendering{}, needsHarden(refusal.Field)
		}
	}
	if len(rendering.Invalid) > 0 {
		return preview.Rendering{}, refused(rendering.Reason, rendering.Invalid)
	}
	return rendering, nil
}

func needsHarden(path string) error {
	return fmt.Errorf("the pods may have more privileges than the platform allows (%s): pass --harden to apply Fairlead's restricted "+
		"defaults from the first rollout on, where the pods set nothing else", path)
}

// needsClass says how to name a class, if the API server refuses an Application because it has none.
func needsClass(err error) error {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return err
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldValueRequired && cause.Field == "spec.className" {
			return fmt.Errorf("%w. %s", err, nameClass)
		}
	}
	return err
}

const nameClass = "Name a class with --class=NAME: 'kubectl fairlead classes' lists them"

// takenError says what to do about objects that the Application would create; nil if there are none. What serves the pods now can stay,
// if the user changes an Application that exists.
func takenError(taken []child.Ref, existing bool) error {
	if len(taken) == 0 {
		return nil
	}
	var names, routes, without []string
	for _, ref := range taken {
		name := ref.Kind.Kind + " " + ref.Name
		names = append(names, name)
		if ref.Kind == child.Ingress || ref.Kind == child.HTTPRoute {
			routes = append(routes, name)
		}
		if change := withoutOwn(ref.Kind); change != "" && !slices.Contains(without, change) {
			without = append(without, change)
		}
	}
	message := names[0] + " exists already, and the Application would create one of its own: rename it, or delete it if nothing needs it"
	if len(names) > 1 {
		message = strings.Join(names, ", ") + " exist already, and the Application would create its own: rename them, or delete what nothing needs"
	}
	if len(routes) > 0 {
		message += "; without " + strings.Join(routes, ", ") + ", no request arrives until the Application has its own"
	}
	if existing && len(without) > 0 {
		message += ". To keep what serves the pods now, " + strings.Join(without, ", ") + " in the Application until the condition Adopted is True"
	}
	return errors.New(message + ". If an earlier Application left that behind, a new one can take it back: see docs/guides/take-back.md")
}

// withoutOwn says how an Application does without an object of its own of the kind; "" if it cannot.
func withoutOwn(kind child.Kind) string {
	switch kind {
	case child.Ingress, child.HTTPRoute:
		return "remove spec.routes"
	case child.HorizontalPodAutoscaler:
		return "remove spec.autoscaling"
	case child.PodDisruptionBudget:
		return "set spec.disruptionBudget to mode Disabled"
	case child.ServiceMonitor:
		return "remove spec.monitoring"
	default:
		return ""
	}
}

// inexpressible says what to do about what an Application cannot express. A Service that an earlier Application left behind may be all that
// is in the way.
func (a *adopting) inexpressible(refused error) error {
	if a.service != nil && plan.IsLeftover(a.service) {
		if _, err := adopt.Draft(a.deployment, nil, a.options); err == nil {
			return fmt.Errorf("%w. An earlier Application left this Service behind: if nothing needs it, run %s, and this command again",
				refused, a.tool.withNamespace(a.namespace, "kubectl delete service "+a.service.Name))
		}
	}
	return replaceInstead(refused)
}

// isAboutSecurity reports whether --harden leaves the field to Fairlead's defaults.
func isAboutSecurity(path string) bool {
	return strings.HasPrefix(path, "spec.securityContext") || strings.HasPrefix(path, "spec.podSecurityContext")
}
