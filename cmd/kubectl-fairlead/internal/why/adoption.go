// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// isHeld reports whether an object that has the name of a child has the consent to its adoption, and the adoption waits.
func (f facts) isHeld(resource v1.ResourceStatus) bool {
	if f.app.Spec.AdoptionPolicy != v1.AdoptionConsented || !f.isTaken(resource) {
		return false
	}
	ref, _ := child.RefOf(f.app, resource)
	live := f.live(resource)
	return f.app.UID != "" && live.GetAnnotations()[v1.AnnotationAdoptableBy] == string(f.app.UID) && plan.Adoptable(ref.Kind, live)
}

// held explains an adoption that waits. While the pods are held, the finding about them says what to do.
func (f facts) held(resource v1.ResourceStatus) []Finding {
	if adopted := f.condition(v1.ConditionAdopted); adopted != nil && adopted.Reason == v1.ReasonPodsHeld {
		return nil
	}
	next := f.rolloutBefore(f.live(resource))
	if next == nil {
		next = []string{fmt.Sprintf("Leave the %s as it is: the Application adopts it once what the message names is done.", resource.Kind)}
	}
	return []Finding{{
		Reason: string(resource.State), What: fmt.Sprintf("%s %s waits for its adoption.", resource.Kind, resource.Name),
		Evidence: []Evidence{resourceEvidence(f.app, resource)}, Next: next,
	}}
}

// becauseOf introduces each cause in the message of an adoption that is refused. becauseOfMissing is the one about what the pods need and that
// does not exist; the other causes name a field.
const (
	becauseOf        = "because of "
	becauseOfMissing = becauseOf + "spec: "
)

// isRefusedAsMissing reports whether the adoption is refused for nothing else than a ConfigMap, Secret or key that does not exist.
func isRefusedAsMissing(message string) bool {
	return strings.Contains(message, becauseOfMissing) && strings.Count(message, becauseOf) == 1
}

// refusedAdoption are the steps after a refusal. The plugin writes no other Application while a Secret has what the Deployment was.
func (f facts) refusedAdoption(message, orWrite string) []string {
	adopt := "kubectl fairlead adopt " + f.app.Name
	var next []string
	if _, missing, found := strings.Cut(message, becauseOfMissing); found {
		missing, _, _ = strings.Cut(missing, "; and "+becauseOf)
		create := f.toCreate(missing, "")
		switch {
		case !isRefusedAsMissing(message):
			create += "."
		case f.app.Spec.ReconcilePolicy == v1.ReconcileObserve:
			create += "; then let the adoption go on: " + adopt
		default:
			create += "; the adoption then goes on."
		}
		next, orWrite = []string{create}, orOptional // Another Application would need the same.
	}
	if !isRefusedAsMissing(message) {
		next = append(next, "Correct the spec of the Application as the message says; then run the command, which names what needs your --accept: "+adopt+" --existing")
	}
	if f.Saved {
		orWrite = "Or take the adoption back: " + adopt + " --abort"
	}
	return append(next, orWrite)
}

// shared explains a Service that is not adopted, because it selects a pod that is not the Application's. The condition has the same message.
func (f facts) shared(resource v1.ResourceStatus) (finding Finding, found bool) {
	adopted := f.condition(v1.ConditionAdopted)
	if resource.Kind != child.Service.Kind || adopted == nil || adopted.Reason != v1.ReasonSelectorShared {
		return Finding{}, false
	}
	pod := "the pod that the message names"
	if name := selectedPod.FindStringSubmatch(resource.Message); name != nil {
		pod = "pod " + name[1]
	}
	return Finding{
		Reason:   adopted.Reason,
		What:     fmt.Sprintf("Service %s is not adopted, because it selects a pod that is not the Application's.", resource.Name),
		Evidence: []Evidence{resourceEvidence(f.app, resource)},
		Next: []string{
			"Change the labels in the pod template of the controller of " + pod + ". If the controller selects by them, its selector cannot change: " +
				"replace it by another controller, which selects by other labels. Without a controller, delete the pod or give it other labels.",
			"Or, if " + pod + " needs no requests, let the Service select the Application's pods alone: " +
				fmt.Sprintf(`kubectl patch service %s --type=merge --patch '{"spec":{"selector":{%q:%q}}}'`, resource.Name, v1.LabelApplication, f.app.Name),
			"Keep the Service: clients use it, and the Application adopts it once all of its pods are the Application's.",
		},
	}, true
}

// selectedPod finds the pod in the message about a Service that selects it.
var selectedPod = regexp.MustCompile(`it selects pod ([^\s,]+),`)

// holdsPods reports whether the pods of an adoption wait for their release. Of a suspended Application, status shows an earlier state.
func (f facts) holdsPods() bool { return edit.HoldsPods(f.app) && !f.isSuspended() }

// endOfPause is what the user does to end the pause. To resume would skip what the release of the pods of an adoption checks.
func (f facts) endOfPause() string {
	if f.holdsPods() {
		return "release its pods"
	}
	return "resume it"
}

// EnforceCommand is the command that lets Fairlead change the children again. It leaves rollouts paused, which resume would not.
func EnforceCommand(application *v1.Application) string {
	return facts{app: application}.enforceCommand()
}

// heldAdoption explains a pause that is a step of an adoption. Before the Deployment is adopted, the conflict says what to do.
func (f facts) heldAdoption(adopted *metav1.Condition) []Finding {
	if adopted.Reason != v1.ReasonPodsHeld {
		return nil
	}
	what := "The Deployment is adopted, and its pods run as before until you release them."
	if f.hasNoPods() {
		what = "The Deployment is adopted, and has no pods."
	}
	rollOut := f.rollOut()
	release := []string{text.Capitalize(rollOut)}
	if policy := child.Get[*networkingv1.NetworkPolicy](f.Snapshot(), child.NetworkPolicy, f.app.Name); policy != nil && child.OwnedBy(policy, f.app) {
		what += " NetworkPolicy " + policy.Name + " restricts the connections to and from each new pod."
	}
	switch {
	case f.ready != nil && slices.Contains(v1.RefusalReasons, f.ready.Reason):
		release = []string{"Once the spec is carried out again, " + rollOut}
	case f.app.Spec.ReconcilePolicy == v1.ReconcileObserve:
		what += " Fairlead changes no child, since reconcilePolicy is Observe."
		release = f.releaseEnforced()
	}
	return append(f.unreachable(), Finding{
		Reason: adopted.Reason, What: what, Evidence: []Evidence{f.conditionEvidence(adopted)}, Next: append(release, f.takeAdoptionBack()),
	})
}

// releaseEnforced are the steps to the release of the pods of an adoption while Fairlead changes no child.
func (f facts) releaseEnforced() []string {
	return []string{f.enforcePaused(), "Then " + f.rollOut()}
}

// rollOut is the command that ends the pause of an adoption, behind what it does.
func (f facts) rollOut() string {
	does := "replace the pods"
	if f.hasNoPods() {
		does = "release the rollout"
	}
	return does + ": kubectl fairlead adopt " + f.app.Name + " --rollout"
}

func (f facts) hasNoPods() bool {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	return deployment != nil && deployment.Status.Replicas == 0
}

// enforcePaused ends what keeps Fairlead from changing children, and leaves rollouts paused, which resume would not.
func (f facts) enforcePaused() string {
	return "Let Fairlead change the children again, which replaces no pod while rollouts are paused: " + f.enforceCommand()
}

// takeAdoptionBack is the other way out of an adoption whose pods are held.
func (f facts) takeAdoptionBack() string {
	if !f.Saved {
		return "Or delete the Application alone, which replaces no pod. Nothing saved what the Deployment was: kubectl fairlead eject " + f.app.Name
	}
	return "Or take the adoption back: kubectl fairlead adopt " + f.app.Name + " --abort"
}

// startsNoPods explains a Deployment that was created while rollouts are paused, such as one that was deleted during a held adoption.
func (f facts) startsNoPods() []Finding {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil || !child.OwnedBy(deployment, f.app) || !deployment.Spec.Paused || deployment.Status.Replicas > 0 ||
		deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == 0 {
		return nil
	}
	return []Finding{{
		Reason: v1.ReasonPaused, What: "The Deployment has no pods: it was created while rollouts are paused, and starts none before you resume them.",
		Evidence: []Evidence{
			{
				Object: child.Deployment.Kind + "/" + deployment.Name, Field: "status.replicas",
				Message: "0, and spec.paused is true", Time: &deployment.CreationTimestamp.Time,
			},
		},
		Next: []string{"Start the pods: kubectl fairlead resume " + f.app.Name},
	}}
}

// unreachable explains a Service that selects none of the pods of an adoption: it is not the one that the pods had.
func (f facts) unreachable() []Finding {
	service := child.Get[*corev1.Service](f.Snapshot(), child.Service, f.app.Name)
	if service == nil || service.Spec.Selector[v1.LabelApplication] != f.app.Name || len(f.Pods) == 0 {
		return nil
	}
	selector := labels.SelectorFromSet(service.Spec.Selector)
	if slices.ContainsFunc(f.Pods, func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp == nil && selector.Matches(labels.Set(pod.Labels))
	}) {
		return nil
	}
	next := []string{"Replace the pods: kubectl fairlead adopt " + f.app.Name + " --rollout"}
	if f.Saved {
		next = append(next, "Or take the adoption back: kubectl fairlead adopt "+f.app.Name+" --abort")
	}
	created := service.CreationTimestamp.Time
	return []Finding{{
		Reason: reasonNoPodSelected, What: "No pod carries the label that the Service selects, so requests fail until the pods are replaced.",
		Evidence: []Evidence{{
			Object: child.Service.Kind + "/" + service.Name, Field: "spec.selector",
			Message: selector.String() + " selects none of the pods", Time: &created,
		}},
		Next: next,
	}}
}

// reasonNoPodSelected is the reason of a Service that selects no pod.
const reasonNoPodSelected = "NoPodSelected"
