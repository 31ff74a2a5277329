// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// pods are what is known of the Application's pods: the health of their rollout, and what this sync changed about it.
type pods struct {
	health.Rollout
	ref child.Ref
	// written: this sync created or changed the Deployment, so its status is out of date.
	written bool
	// adopted: this sync adopted the Deployment. Its pods run as before, and it is paused.
	adopted bool
	// paused: spec.paused holds the change that the status does not know yet, so no rollout begins.
	paused bool
	// foreign says whose the object with the Deployment's name is, if it is not the Application's; "" if it is.
	foreign string
}

func podsOf(in Input) pods {
	application := in.Snapshot.Application
	p := pods{
		Rollout: in.Health,
		ref:     child.Ref{Kind: child.Deployment, Namespace: application.Namespace, Name: application.Name},
	}
	result, ok := in.result(p.ref)
	switch {
	case result.Action == plan.NotOwned:
		p.foreign = text.Capitalize(text.Sentence(result.Reason))
	case ok && foreign(in, result):
		p.foreign = "The Deployment is not adopted yet."
	}
	switch {
	case p.Deployment != nil || in.deleting():
	case ok && (result.Action == plan.WaitDependency || result.Action == plan.Create):
		p.Desired = desiredReplicas(result, plan.InitialReplicas(application)) // The user asks for pods, although none can start yet.
	case len(in.Invalid) > 0:
		p.Desired = plan.InitialReplicas(application) // So does a user whose spec was refused.
	}
	p.written = ok && !in.observing() && result.Err == nil && changesPods(result)
	p.paused = isPaused(application) && (p.written || p.Deployment != nil && p.Deployment.Spec.Paused)
	if p.written {
		p.Desired = desiredReplicas(result, p.Desired)
		p.Observed, p.Uncreated, p.Complete, p.TimedOut, p.Problems = false, false, false, false, nil
	}
	if live, ok := result.Live.(*appsv1.Deployment); ok && p.written && result.Action == plan.Adopt {
		// The health leaves it out, because the snapshot is older than the adoption.
		p.adopted, p.Deployment, p.Status = true, live, live.Status
		p.Status.UpdatedReplicas = 0 // They have the template of before.
	}
	return p
}

// desiredReplicas is the number of pods after a write of the Deployment.
func desiredReplicas(result plan.Result, live int32) int32 {
	if result.HandOver != nil {
		return *result.HandOver
	}
	if result.Desired != nil {
		if rendered := plan.RenderedReplicas(result.Desired); rendered != nil {
			return *rendered
		}
	}
	if deployment, ok := result.Live.(*appsv1.Deployment); ok && deployment.Spec.Replicas != nil {
		return *deployment.Spec.Replicas
	}
	return live
}

// changesPods reports whether a write of the Deployment made its live status obsolete: the API server increments the
// generation if the spec or an annotation changed. So the repair of a label does not make Ready False for a moment. One of an annotation
// does: those that Fairlead sets on a Deployment say what its pods are, and change with them.
func changesPods(result plan.Result) bool {
	switch result.Action {
	case plan.Create:
		return true
	case plan.Apply, plan.Scale, plan.Adopt:
		return result.Live == nil || result.Generation != result.Live.GetGeneration()
	default:
		return false
	}
}

// isApplied reports whether this sync left the Deployment as rendered. Under Observe it writes nothing.
func (p pods) isApplied(in Input) bool { return in.isWritten(p.ref) }

// summarizePods summarizes the pods. If a problem explains why they are not ready, it is the reason of Ready; the
// progress of the rollout stays the reason of Reconciling or Stalled. A pause explains why a rollout waits, but not why fewer pods are
// available than it leaves.
func summarizePods(in Input, p pods) summary {
	s := summarizeDeployment(in, p)
	fewer := s.reason == v1.ReasonPaused && p.Status.AvailableReplicas < p.Desired
	if worst := p.Worst(); worst != nil && (s.reconciling || s.stalled || fewer) {
		s.stage, s.reason = s.reason, worst.Reason
		s.message, s.cause = p.Describe(worst)+" "+s.message, whyPods(worst, in.Snapshot.Application.Name)
	}
	return summarizeRollback(in, p, s)
}

// summarizeDeployment summarizes the Deployment.
func summarizeDeployment(in Input, p pods) summary {
	if p.Deployment == nil {
		switch {
		case p.written && p.paused:
			return summary{reconciling: true, reason: v1.ReasonApplying, message: "The Deployment was written; spec.paused pauses rollouts."}
		case p.written:
			return summary{reconciling: true, reason: v1.ReasonRollingOut, message: "The Deployment was written; waiting for its pods."}
		case p.foreign != "" && in.observing():
			return summary{reason: v1.ReasonDrifted, message: "The Deployment is not adopted, and reconcilePolicy Observe adopts none."}
		case in.observing():
			return summary{reason: v1.ReasonDrifted, message: "The Application has no Deployment, and reconcilePolicy Observe creates none."}
		default:
			return summary{reconciling: true, reason: v1.ReasonDeploymentNotFound, message: "The Application has no Deployment."}
		}
	}
	progressing := p.Condition(appsv1.DeploymentProgressing)
	switch {
	case p.Complete && p.Desired == 0 && disabledAutoscaler(in):
		return summarizeDisabledAutoscaler(in, p)
	case p.Complete && p.Desired == 0 && in.observing() && asked(in) > 0:
		return summary{reason: v1.ReasonDrifted, message: fmt.Sprintf(
			"The Deployment is scaled to 0, although spec.replicas is %d: reconcilePolicy Observe does not change that.", asked(in))}
	case p.Complete && p.Desired == 0:
		return summary{ready: true, reason: v1.ReasonScaledToZero, message: "Scaled to zero."}
	case p.Complete:
		return summary{ready: true, reason: v1.ReasonReady, message: fmt.Sprintf("%s available%s.", count(p.Desired, p.Desired), atRevision(in, p))}
	case p.Deployment.DeletionTimestamp != nil:
		return summary{reconciling: true, reason: v1.ReasonApplying, message: "Another client is deleting the Deployment."}
	case p.adopted:
		return summary{reason: v1.ReasonPaused, message: "The Deployment is adopted, and spec.paused pauses its rollout. " + p.counts()}
	case p.paused && (p.written || !p.Observed):
		return summary{reconciling: true, reason: v1.ReasonApplying, message: messagePausedChange}
	case p.written:
		return summary{reconciling: true, reason: v1.ReasonRollingOut, message: "The Deployment was changed; rolling out."}
	case !p.Observed:
		return summary{reconciling: true, reason: v1.ReasonRollingOut, message: "The Deployment was changed; waiting for the Deployment controller."}
	case p.Uncreated:
		return summary{stalled: true, reason: v1.ReasonReplicaFailure, message: fmt.Sprintf("%s updated. %s", count(0, p.Desired), messageUncounted)}
	case p.Paused:
		by := "spec.paused"
		if !isPaused(in.Snapshot.Application) {
			by = "another client, as kubectl rollout pause does" // Fairlead does not end it while the policy is Observe.
		}
		return summary{reason: v1.ReasonPaused, message: "Rollout paused by " + by + ". " + p.counts()}
	case p.TimedOut:
		return summary{stalled: true, reason: v1.ReasonProgressDeadlineExceeded, message: text.Sentence(progressing.Message) + " " + p.counts()}
	case (progressing != nil && progressing.Reason == child.ReasonRolledOut || p.wasCompleteBefore(in)) &&
		p.Status.UpdatedReplicas == p.Desired && p.Status.Replicas == p.Desired:
		return summary{reconciling: true, reason: v1.ReasonPodsUnavailable, message: fmt.Sprintf("%s available.", count(p.Status.AvailableReplicas, p.Desired)) + p.notYetAvailable()}
	default:
		return summary{reconciling: true, reason: v1.ReasonRollingOut, message: p.counts()}
	}
}

// wasCompleteBefore reports whether the rollout was complete before rollouts were paused. The condition of the Deployment says only that it
// is paused.
func (p pods) wasCompleteBefore(in Input) bool {
	return p.Deployment.Spec.Paused && in.Revision.Current > 0 && in.Revision.Current == in.Revision.LastHealthy
}

// asked is spec.replicas; 0 if the spec leaves the number to other clients.
func asked(in Input) int32 {
	if replicas := in.Snapshot.Application.Spec.Replicas; replicas != nil && in.Snapshot.Application.Spec.Autoscaling == nil {
		return *replicas
	}
	return 0
}

// runsOn reports whether a rollout of the Deployment goes on: a spec.paused that came with a refused spec does not reach it.
func (p *pods) runsOn() bool {
	return p.foreign == "" && p.Deployment != nil && !p.Deployment.Spec.Paused
}

// messagePausedChange tells of a change that the Deployment controller has not seen yet. It may be one of the number of pods alone, which
// a pause does not hold.
const messagePausedChange = "The Deployment was changed; spec.paused pauses rollouts."

// messageUncounted explains the missing numbers: without the ReplicaSet of the rollout, the Deployment controller fails before it counts the
// other pods, so the Deployment keeps its earlier numbers.
const messageUncounted = "Kubernetes does not count the other pods meanwhile."

// atRevision names the revision that runs, if it has a number. Under Observe the pods may be those of another client.
func atRevision(in Input, p pods) string {
	runs := revision(in, p)
	if in.observing() && !p.isApplied(in) || runs == nil || runs.Current == 0 {
		return ""
	}
	at := fmt.Sprintf(" at revision %d", runs.Current)
	if rollback := in.Snapshot.Application.Spec.Rollback; rollback != nil && rollback.ToRevision != nil {
		at += samePodsAs(runs.Current, *rollback.ToRevision) + ", as spec.rollback.toRevision asks; remove it to run the spec"
	}
	return at
}

// samePodsAs explains the number of what runs, if the revision asked for has another one: a ConfigMap or Secret that its pods follow has
// other content now.
func samePodsAs(runs, asked int64) string {
	if runs == asked {
		return ""
	}
	return fmt.Sprintf(", which has the pods of revision %d and other ConfigMaps or Secrets", asked)
}

// counts is a sentence about the progress of the rollout.
func (p pods) counts() string {
	text := fmt.Sprintf("%s updated, %d available", count(p.Status.UpdatedReplicas, p.Desired), p.Status.AvailableReplicas)
	if old := p.Status.Replicas - p.Status.UpdatedReplicas; old > 0 {
		text += fmt.Sprintf("; %d of an older revision", old)
	}
	return text + "." + p.notYetAvailable()
}

// notYetAvailable is a sentence about pods that are ready, but have not been so for long enough to count; "" if there are none.
func (p pods) notYetAvailable() string {
	young := p.Status.ReadyReplicas - p.Status.AvailableReplicas
	if p.Deployment == nil || p.Deployment.Spec.MinReadySeconds == 0 || p.Uncreated || young <= 0 {
		return ""
	}
	text := fmt.Sprintf(" %d are ready, and count as available once they have been ready", young)
	if young == 1 {
		text = " 1 is ready, and counts as available once it has been ready"
	}
	return fmt.Sprintf("%s for %d s (minReadySeconds).", text, p.Deployment.Spec.MinReadySeconds)
}

// count is the beginning of a sentence about some pods of all. There are more than all for a while after a Deployment was scaled down.
func count(some, all int32) string {
	switch {
	case all == 1 && some == 1:
		return "1 pod is"
	case some == all:
		return fmt.Sprintf("All %d pods are", all)
	case some > all && some == 1:
		return fmt.Sprintf("1 pod (%d desired) is", all)
	case some > all:
		return fmt.Sprintf("%d pods (%d desired) are", some, all)
	default:
		return fmt.Sprintf("%d of %d pods are", some, all)
	}
}

// mirror copies a condition of the Deployment to the Application.
func (p pods) mirror(kind appsv1.DeploymentConditionType, absent metav1.ConditionStatus) metav1.Condition {
	if p.foreign != "" {
		return metav1.Condition{Status: absent, Reason: v1.ReasonConflict, Message: p.foreign}
	}
	if p.Deployment == nil {
		return metav1.Condition{Status: absent, Reason: v1.ReasonDeploymentNotFound, Message: "The Application has no Deployment."}
	}
	if source := p.Condition(kind); source != nil {
		return metav1.Condition{Status: metav1.ConditionStatus(source.Status), Reason: source.Reason, Message: source.Message}
	}
	return metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1.ReasonUnknown, Message: "The Deployment has not reported it yet."}
}

// available mirrors the Deployment, with the reason of the pods if they have one.
func (p pods) available() metav1.Condition {
	condition := p.mirror(appsv1.DeploymentAvailable, metav1.ConditionFalse)
	if worst := p.Worst(); worst != nil && condition.Status == metav1.ConditionFalse {
		condition.Reason, condition.Message = worst.Reason, text.Sentence(condition.Message)+" "+p.Describe(worst)
	}
	return condition
}

// progressing mirrors the Deployment, unless its condition is about an older generation: then a new rollout begins. It
// keeps the reasons, which kubectl and other clients know.
func (p pods) progressing() metav1.Condition {
	switch {
	case p.adopted || !p.written && (p.Deployment == nil || p.Observed):
	case p.paused:
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1.ReasonPaused, Message: messagePausedChange}
	default:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonRollingOut, Message: "The Deployment was changed; rolling out."}
	}
	condition := p.mirror(appsv1.DeploymentProgressing, metav1.ConditionUnknown)
	if worst := p.Worst(); worst != nil && condition.Reason != child.ReasonRolledOut && !p.Uncreated {
		condition.Message = text.Sentence(condition.Message) + " " + p.Describe(worst)
	}
	return condition
}
