// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
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
	"fairlead.dev/fairlead/pkg/text"
)

// compare renders the Application, and finds out what its children mean for the pods and the other objects, without storing anything. It
// returns every reason that refuses the adoption; the error is why the comparison did not come to its end.
func (a *adopting) compare(ctx context.Context, draft *v1.Application) (differences *adopt.Differences, beside *others, refused []error, err error) {
	checker, err := a.editing.from.checker()
	if err != nil {
		return nil, nil, nil, err
	}
	rendering, err := a.render(ctx, draft, checker)
	if errors.As(err, new(*refusedError)) || errors.As(err, new(*needsHardenError)) {
		err = a.explainLimits(err)
		return nil, nil, []error{err}, err
	}
	if err != nil {
		return nil, nil, nil, err
	}
	// What refuses them in their metadata is known already, and would hide the rest.
	deployment, service := a.deployment.DeepCopy(), a.service.DeepCopy()
	deployment.ObjectMeta = metav1.ObjectMeta{Namespace: a.namespace, Name: a.name}
	if service != nil {
		service.ObjectMeta = deployment.ObjectMeta
	}
	if err := adopt.Refusal(a.tool.differ, draft, rendering.Children, deployment, service); err != nil {
		refused = append(refused, a.explainRefusal(err, rendering.Children))
	}
	beside, err = a.findOthers(ctx, draft, rendering)
	if err != nil {
		return nil, nil, refused, err
	}
	// The Application would be stuck half way.
	if message := takenMessage(beside.taken, a.deployment.Spec.Template.Spec.ServiceAccountName, a.existing); message != "" {
		refused = append(refused, errors.New(a.tool.withNamespace(a.namespace, message)))
	}
	differences, err = a.comparePods(ctx, rendering.Children)
	if err != nil {
		return nil, nil, refused, err
	}
	beside.fromAdoption(draft, a.deployment, differences)
	return differences, beside, refused, nil
}

// explainRefusal says what to do about what the controller would refuse. No Application makes up for the kind of a Service.
func (a *adopting) explainRefusal(refused error, children []child.Desired) error {
	path := ""
	if a.service != nil && slices.ContainsFunc(children, func(desired child.Desired) bool { return desired.Kind == child.Service }) {
		path, _ = plan.RefuseService(a.service)
	}
	switch {
	case path != "":
		return fmt.Errorf("%w. Move its clients to the same Service under another name, delete this one, and run the command again; "+
			"or replace the Deployment without stopping its pods: see 'Move an existing Deployment' in docs/applications.md", refused)
	case a.existing:
		return fmt.Errorf("%w. Correct the Application; or delete it, and %s writes one that fits", refused, a.command("--harden"))
	default:
		return refused
	}
}

// explainLimits says what to do about a class whose limits the Deployment breaks. The user has no Application in which to change a field.
func (a *adopting) explainLimits(err error) error {
	refused := (*refusedError)(nil)
	if a.existing || !errors.As(err, &refused) || refused.reason != v1.ReasonClassLimitExceeded {
		return err
	}
	return fmt.Errorf("%w. The spec comes from the Deployment: change that first, which may replace its pods; or write the Application yourself, "+
		"with adoptionPolicy: Consented and paused: true, and pass --existing; or name another class with --class=NAME: 'kubectl fairlead classes' lists them", err)
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
	keepHashes(a.deployment, next)
	container, err := adopt.Container(a.deployment, a.options)
	if err != nil {
		return nil, err
	}
	return adopt.Compare(a.deployment, container, &next.Spec.Template)
}

// keepHashes keeps the hashes of ConfigMaps and Secrets that an earlier Application has left on the pods. The controller computes them
// again, and they differ only if the content does.
func keepHashes(live, next *appsv1.Deployment) {
	for _, key := range []string{v1.AnnotationConfigMapsHash, v1.AnnotationSecretsHash} {
		hash, found := live.Spec.Template.Annotations[key]
		if found && next.Spec.Template.Annotations[key] == preview.ComputedHash {
			next.Spec.Template.Annotations[key] = hash
		}
	}
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
					return preview.Rendering{}, &needsHardenError{cause.Field}
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
			return preview.Rendering{}, &needsHardenError{refusal.Field}
		}
	}
	if len(rendering.Invalid) > 0 {
		return preview.Rendering{}, refused(rendering.Reason, rendering.Invalid)
	}
	return rendering, nil
}

// needsHardenError is about a draft with privileges that the platform does not allow.
type needsHardenError struct{ path string }

func (e *needsHardenError) Error() string {
	return fmt.Sprintf("the pods may have more privileges than the platform allows (%s): pass --harden to apply Fairlead's restricted "+
		"defaults from the first rollout on, where the pods set nothing else", e.path)
}

// harden is the flag, with a space, if the platform refuses what the command would write without it. What else is in the way, the command
// itself says.
func (a *adopting) harden(ctx context.Context) string {
	draft, err := adopt.Draft(a.deployment, nil, a.options)
	if err != nil {
		return ""
	}
	checker, err := a.editing.from.checker()
	if err != nil {
		return ""
	}
	if _, err := a.render(ctx, draft, checker); errors.As(err, new(*needsHardenError)) {
		return "--harden "
	}
	return ""
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

// takenRef is an object that has the name of one that the Application would create.
type takenRef struct {
	child.Ref
	left bool // An earlier Application left it behind.
}

// takenMessage says what to do about objects that the Application would create; "" if there are none. The pods of the Deployment run as the
// account. What serves the pods now can stay, if the user changes an Application that exists.
func takenMessage(taken []takenRef, account string, existing bool) string {
	var said, foreign, left, deleted, unused, routes, without []string
	for _, ref := range taken {
		name := ref.Kind.Kind + " " + ref.Name
		used := ref.Kind == child.ServiceAccount && ref.Name == cmp.Or(account, "default")
		switch {
		case used && ref.left:
			said = append(said, name+" was left behind by an earlier Application, and the pods of the Deployment run as it: take it back as docs/guides/take-back.md says, or name it in spec.serviceAccount.name")
		case used:
			said = append(said, name+" exists already, and the pods of the Deployment run as it: name it in spec.serviceAccount.name")
		case ref.left:
			left, deleted = append(left, name), append(deleted, strings.ToLower(ref.Kind.Kind)+"/"+ref.Name)
		default:
			foreign = append(foreign, name)
		}
		if ref.Kind == child.ServiceAccount && !used {
			unused = append(unused, "The pods of the Deployment do not run as "+name)
		}
		if ref.Kind == child.Ingress || ref.Kind == child.HTTPRoute {
			routes = append(routes, name)
		}
		if change := withoutOwn(ref.Kind); change != "" && !slices.Contains(without, change) {
			without = append(without, change)
		}
	}
	switch len(foreign) {
	case 0:
	case 1:
		said = append(said, foreign[0]+" exists already, and the Application would create one of its own: replace it by one of another name, or delete it if nothing needs it")
	default:
		said = append(said, strings.Join(foreign, ", ")+" exist already, and the Application would create its own: replace each by one of another name, or delete what nothing needs")
	}
	if len(left) > 0 {
		were, them := " was ", "it"
		if len(left) > 1 {
			were, them = " were ", "them"
		}
		said = append(said, fmt.Sprintf("%s%sleft behind by an earlier Application: delete %s if nothing needs %s (kubectl delete %s), or take %s back as docs/guides/take-back.md says",
			strings.Join(left, ", "), were, them, them, strings.Join(deleted, " "), them))
	}
	said = append(said, unused...)
	if len(routes) > 0 {
		said = append(said, "Without "+strings.Join(routes, ", ")+", no request arrives until the Application has its own")
	}
	if existing && len(without) > 0 {
		said = append(said, "To keep what serves the pods now, "+text.Enumerate(without)+" in the Application until the condition Adopted is True")
	}
	return strings.Join(said, ". ")
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
