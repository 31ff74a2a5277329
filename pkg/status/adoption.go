// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

const (
	// maxPodFields and maxAwaiting limit the lists of status.adoption, as the schema does, and maxPodFieldBytes the
	// paths together: users name the containers and volumes of a Deployment.
	maxPodFields, maxAwaiting = 64, 16
	maxPodFieldBytes          = 4 << 10
)

// deploymentOf returns the live Deployment if it is the Application's after the sync, or nil.
func deploymentOf(in Input, p pods) *appsv1.Deployment {
	if p.Deployment != nil {
		return p.Deployment
	}
	result, found := in.result(p.ref)
	if live, ok := result.Live.(*appsv1.Deployment); ok && found && !foreign(in, result) {
		return live // Just adopted.
	}
	return nil
}

// lacksLabels reports whether pods of the Application may lack Fairlead's label, because they are older than the adoption.
func lacksLabels(in Input, p pods) bool {
	live := deploymentOf(in, p)
	result, _ := in.result(p.ref)
	return live != nil && (result.Action == plan.Adopt || plan.LacksLabels(in.Snapshot.Application, live))
}

// selector returns the labels of the pods. As long as pods lack Fairlead's label, it is the selector of the Deployment.
func selector(in Input) string {
	application := in.Snapshot.Application
	if live := deploymentOf(in, pods{Rollout: in.Health, ref: deploymentRef(application)}); live != nil && lacksLabels(in, pods{Rollout: in.Health, ref: deploymentRef(application)}) {
		if kept := plan.KeptSelector(application, live); kept != nil {
			return metav1.FormatLabelSelector(kept)
		}
	}
	return v1.LabelApplication + "=" + application.Name
}

func deploymentRef(application *v1.Application) child.Ref {
	return child.Ref{Kind: child.Deployment, Namespace: application.Namespace, Name: application.Name}
}

// adoption reports the progress of an adoption; nil if there is nothing to report.
func adoption(in Input, p pods) *v1.AdoptionStatus {
	if in.deleting() || !in.planned() {
		return in.Snapshot.Application.Status.Adoption.DeepCopy()
	}
	var a v1.AdoptionStatus
	if live := deploymentOf(in, p); live != nil && lacksLabels(in, p) {
		if kept := plan.KeptSelector(in.Snapshot.Application, live); kept != nil {
			a.Selector = metav1.FormatLabelSelector(kept)
		}
		a.PodsToReplace = max(0, live.Status.Replicas-live.Status.UpdatedReplicas)
		if p.written || p.Deployment == nil {
			a.PodsToReplace = live.Status.Replicas
		}
	}
	for _, result := range in.Results {
		switch {
		case result.Adoption == plan.AdoptionAwaitsConsent && len(a.Awaiting) < maxAwaiting:
			a.Awaiting = append(a.Awaiting, result.Ref.Kind.Kind+" "+result.Ref.Name)
		case result.Action == plan.Adopt && in.observing() && result.Ref == p.ref:
			a.PodFields = podFields(result.Fields)
			if live, ok := result.Live.(*appsv1.Deployment); ok {
				a.PodsToReplace = live.Status.Replicas
			}
		}
	}
	if a.Selector == "" && a.PodsToReplace == 0 && len(a.PodFields) == 0 && len(a.Awaiting) == 0 {
		return nil
	}
	return &a
}

// adoptedImage is the image that the pods of a Deployment ran before its adoption; "" while a rollout is under way, or if it is not clear
// which container becomes the Application's, since an adoption may rename it.
func adoptedImage(in Input, before *appsv1.Deployment) string {
	pods := before.Status
	if pods.Replicas == 0 || pods.Replicas != pods.UpdatedReplicas || pods.ObservedGeneration < before.Generation {
		return ""
	}
	application := in.Snapshot.Application
	var others []string
	for _, container := range before.Spec.Template.Spec.Containers {
		if container.Name == application.Name {
			return text.Truncate(container.Image, maxImage)
		}
		if !slices.ContainsFunc(application.Spec.Sidecars, func(sidecar corev1.Container) bool { return sidecar.Name == container.Name }) {
			others = append(others, container.Image)
		}
	}
	if len(others) != 1 {
		return ""
	}
	return text.Truncate(others[0], maxImage)
}

// podFields returns the paths of the pod template, as many as fit.
func podFields(fields []string) []string {
	var paths []string
	left := maxPodFieldBytes
	for _, field := range fields {
		if !strings.HasPrefix(field, ".spec.template") {
			continue
		}
		left -= text.JSONSize(field) + len(`"",`)
		if left < 0 || len(paths) == maxPodFields {
			break
		}
		paths = append(paths, field)
	}
	return paths
}

// adopted returns the condition Adopted, if the Application adopts objects or keeps the selector of an adopted Deployment.
func adopted(in Input, p pods) (condition metav1.Condition, applies bool) {
	application := in.Snapshot.Application
	live := deploymentOf(in, p)
	if application.Spec.AdoptionPolicy != v1.AdoptionConsented && plan.KeptSelector(application, live) == nil {
		return metav1.Condition{}, false
	}
	if !in.planned() {
		last := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAdopted)
		if last == nil {
			return metav1.Condition{}, false
		}
		return *last, true
	}
	no := func(reason, message string) (metav1.Condition, bool) {
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: text.Capitalize(text.Sentence(message))}, true
	}
	for _, worst := range []struct {
		adoption plan.Adoption
		reason   string
	}{
		{plan.AdoptionRefused, v1.ReasonRefused}, {plan.AdoptionAwaitsConsent, v1.ReasonAwaitingConsent},
		{plan.AdoptionShared, v1.ReasonSelectorShared},
	} {
		at := slices.IndexFunc(in.Results, func(result plan.Result) bool { return result.Adoption == worst.adoption })
		if at >= 0 {
			return no(worst.reason, in.Results[at].Reason)
		}
	}
	if result, _ := in.result(p.ref); result.Adoption == plan.AdoptionHeld {
		return no(v1.ReasonAdopting, "Deployment "+p.ref.Name+" is not adopted yet: "+result.Reason)
	}
	held, isHeld := heldBesides(in)
	switch {
	case slices.ContainsFunc(in.Results, func(result plan.Result) bool { return result.Action == plan.Adopt && foreign(in, result) }):
		return no(v1.ReasonAdopting, "The objects with a consent are not adopted yet.")
	case live == nil:
		return no(v1.ReasonAdopting, "The Application has no Deployment.")
	case lacksLabels(in, p) && isPaused(application) && live.Status.Replicas == 0:
		return no(v1.ReasonPodsHeld, fmt.Sprintf("No pod runs. Set spec.paused to false, so that new pods have the labels %s.", metav1.FormatLabelSelector(live.Spec.Selector)))
	case lacksLabels(in, p) && isPaused(application) && p.Observed && p.Status.UpdatedReplicas > 0:
		return no(v1.ReasonPaused, fmt.Sprintf("The rollout that replaces the pods of before the adoption has begun, and spec.paused pauses it: %d of %d pods are updated. Set spec.paused to false to go on.",
			p.Status.UpdatedReplicas, live.Status.Replicas))
	case lacksLabels(in, p) && isPaused(application):
		return no(v1.ReasonPodsHeld, fmt.Sprintf("The pods run as before the adoption. Set spec.paused to false to replace those with the labels %s.", metav1.FormatLabelSelector(live.Spec.Selector)))
	case lacksLabels(in, p) && in.Missing != "" && !p.isApplied(in):
		return no(v1.ReasonRollingOut, "The pods run as before the adoption: "+in.Missing)
	case isHeld && isPaused(application):
		return no(v1.ReasonPaused, held.Reason+"; spec.paused pauses rollouts")
	case lacksLabels(in, p), isHeld:
		return no(v1.ReasonRollingOut, "The pods that are older than the adoption are being replaced.")
	default:
		message := "The Application owns " + ownedAfter(in) + ", and every pod carries its label."
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonAdopted, Message: message}, true
	}
}

// ownedAfter names what the Application owns of a Deployment, which it does own, and a Service. With adoptionPolicy Never, the Application
// may never get the Service; a quota may refuse the one that the Application creates.
func ownedAfter(in Input) string {
	at := slices.IndexFunc(in.Results, func(result plan.Result) bool { return result.Ref.Kind == child.Service && result.Action != plan.Delete })
	switch {
	case at < 0:
		return "the Deployment"
	case exists(in, in.Results[at]):
		return "the Deployment and the Service"
	case in.Results[at].Action == plan.NotOwned:
		return "the Deployment, but not the Service"
	default:
		return "the Deployment, but has no Service yet"
	}
}

// exists reports whether a rendered child exists after the sync, as the Application's.
func exists(in Input, result plan.Result) bool {
	switch result.Action {
	case plan.NotOwned, plan.APIUnavailable:
		return false
	case plan.Create:
		return result.Err == nil && !in.observing()
	case plan.Backoff, plan.WaitDependency:
		return result.Live != nil
	default:
		return !apierrors.IsNotFound(result.Err)
	}
}

// heldBesides returns the result of another child that waits for the pods of the Deployment, which need not be adopted itself.
func heldBesides(in Input) (held plan.Result, found bool) {
	at := slices.IndexFunc(in.Results, func(result plan.Result) bool { return result.Adoption == plan.AdoptionHeld })
	if at < 0 {
		return plan.Result{}, false
	}
	return in.Results[at], true
}

func isPaused(application *v1.Application) bool {
	return application.Spec.Paused != nil && *application.Spec.Paused
}
