// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// Reasons of the Deployment's condition Progressing. Kubernetes has no constants for them
// outside of its controller.
const (
	deploymentTimedOut = "ProgressDeadlineExceeded"
	// A rollout was complete; this stays so until the next one begins.
	deploymentRolledOut = "NewReplicaSetAvailable"
)

// pods are what is known of the Application's pods: what its Deployment says about them, and what they
// say of themselves where they do not serve.
type pods struct {
	ref child.Ref
	// live is nil if there is no Deployment, or it is not the Application's.
	live *appsv1.Deployment
	// status is that of live, or zero.
	status appsv1.DeploymentStatus
	// desired is the number of pods asked for.
	desired int32
	// written is true if this sync created or changed the Deployment: then status is about a
	// Deployment that is not there any more.
	written bool
	// problems are those of the pods of the current revision, the worst first.
	problems []v1.Problem
}

func observePods(in Input, now time.Time) pods {
	application := in.Snapshot.Application
	p := pods{ref: child.Ref{Kind: child.Deployment, Namespace: application.Namespace, Name: application.Name}}
	if in.ours(p.ref) {
		p.live = child.Get[*appsv1.Deployment](in.Snapshot, child.Deployment, application.Name)
	}
	if p.live != nil {
		p.status = p.live.Status
		p.desired = replicas(p.live)
	}
	result, ok := in.result(p.ref)
	p.written = ok && !in.observing() && result.Err == nil && changesPods(result)
	if p.written {
		p.desired = desiredReplicas(result, p.desired)
	}
	p.problems, _ = p.findProblems(in, now)
	return p
}

func replicas(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
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
	if result.Action == plan.Create {
		return 1
	}
	return live
}

// changesPods tells whether a write of the Deployment made its live status obsolete: the API
// server counts the generation up if, and only if, the spec changed. The repair of a label does
// not, and so Ready does not go False and back for nothing.
func changesPods(result plan.Result) bool {
	switch result.Action {
	case plan.Create:
		return true
	case plan.Apply, plan.Scale:
		return result.Live == nil || result.Generation != result.Live.GetGeneration()
	default:
		return false
	}
}

// brought tells whether the Deployment is, as far as this sync could bring it, as rendered.
func (p pods) brought(in Input) bool {
	deployment, found := in.result(p.ref)
	return found && done(deployment)
}

// observed tells whether the Deployment's status is about the Deployment as it is now.
func (p pods) observed() bool {
	return p.live != nil && !p.written && p.status.ObservedGeneration >= p.live.Generation
}

// complete tells whether every pod that is asked for is of the current revision and available,
// and no other is left.
func (p pods) complete() bool {
	return p.observed() && p.live.DeletionTimestamp == nil &&
		p.status.UpdatedReplicas == p.desired &&
		p.status.AvailableReplicas == p.desired &&
		p.status.Replicas == p.status.UpdatedReplicas
}

// heldBack tells whether a rollout waits for the end of a pause. A paused Deployment still
// scales, so a number of pods that is too small alone does not mean it; but without any pod it
// has no ReplicaSet of the current revision, or scales it up in a moment.
func (p pods) heldBack() bool {
	return p.live.Spec.Paused &&
		(p.status.Replicas > p.status.UpdatedReplicas || p.status.Replicas == 0 && p.desired > 0)
}

// condition returns the Deployment's condition, or nil.
func (p pods) condition(kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range p.status.Conditions {
		if p.status.Conditions[i].Type == kind {
			return &p.status.Conditions[i]
		}
	}
	return nil
}

// replicaFailure is the Deployment's condition about pods that cannot be made, or nil.
func (p pods) replicaFailure() *appsv1.DeploymentCondition {
	if failure := p.condition(appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		return failure
	}
	return nil
}

// summarizePods is the summary as far as the pods are concerned. Where a problem of theirs explains it,
// that is the reason of Ready; how far the rollout came stays the reason of Reconciling or Stalled.
func summarizePods(in Input, p pods) summary {
	s := summarizeDeployment(in, p)
	if worst := p.worst(); worst != nil && (s.reconciling || s.stalled) {
		s.stage, s.reason = s.reason, worst.Reason
		s.message = p.tell(worst) + " " + s.message
	}
	return summarizeRollback(in, p, s)
}

// summarizeDeployment is the summary as far as the Deployment tells it.
func summarizeDeployment(in Input, p pods) summary {
	if p.live == nil {
		switch {
		case p.written:
			return summary{reconciling: true, reason: v1.ReasonRollingOut, message: "The Deployment was written; its pods are not seen yet."}
		case in.observing():
			return summary{reason: v1.ReasonDrifted, message: "The Application has no Deployment, and reconcilePolicy Observe makes none."}
		default:
			return summary{reconciling: true, reason: v1.ReasonDeploymentNotFound, message: "The Application has no Deployment yet."}
		}
	}
	progressing := p.condition(appsv1.DeploymentProgressing)
	timedOut := progressing != nil && progressing.Reason == deploymentTimedOut
	switch {
	case p.complete() && p.desired == 0:
		return summary{ready: true, reason: v1.ReasonScaledToZero, message: "No pods are asked for, and none runs."}
	case p.complete():
		return summary{ready: true, reason: v1.ReasonReady, message: fmt.Sprintf("%s available, of the current revision.", count(p.desired, p.desired))}
	case p.live.DeletionTimestamp != nil:
		return summary{reconciling: true, reason: v1.ReasonApplying, message: "The Deployment is being deleted by others."}
	case p.written:
		return summary{reconciling: true, reason: v1.ReasonRollingOut, message: "The Deployment was changed; its pods follow."}
	case !p.observed():
		return summary{reconciling: true, reason: v1.ReasonRollingOut, message: "The Deployment was changed; Kubernetes has not acted on it yet."}
	case p.heldBack():
		return summary{reason: v1.ReasonPaused, message: "A rollout waits for the end of the pause. " + p.counts()}
	case timedOut:
		return summary{stalled: true, reason: v1.ReasonProgressDeadlineExceeded, message: sentence(progressing.Message) + " " + p.counts()}
	case progressing != nil && progressing.Reason == deploymentRolledOut &&
		p.status.UpdatedReplicas == p.desired && p.status.Replicas == p.desired:
		return summary{reconciling: true, reason: v1.ReasonPodsUnavailable, message: fmt.Sprintf("%s available.", count(p.status.AvailableReplicas, p.desired))}
	default:
		return summary{reconciling: true, reason: v1.ReasonRollingOut, message: p.counts()}
	}
}

// counts is a sentence about where the rollout stands.
func (p pods) counts() string {
	text := fmt.Sprintf("%s updated, %d available", count(p.status.UpdatedReplicas, p.desired), p.status.AvailableReplicas)
	if old := p.status.Replicas - p.status.UpdatedReplicas; old > 0 {
		text += fmt.Sprintf("; %d of an older revision", old)
	}
	return text + "."
}

// count is the beginning of a sentence about some pods of all.
func count(some, all int32) string {
	switch {
	case all == 1 && some == 1:
		return "1 pod is"
	case some == all:
		return fmt.Sprintf("All %d pods are", all)
	default:
		return fmt.Sprintf("%d of %d pods are", some, all)
	}
}

// mirror makes a condition of the Application out of one of the Deployment.
func (p pods) mirror(kind appsv1.DeploymentConditionType, absent metav1.ConditionStatus) metav1.Condition {
	if p.live == nil {
		return metav1.Condition{Status: absent, Reason: v1.ReasonDeploymentNotFound, Message: "The Application has no Deployment yet."}
	}
	if source := p.condition(kind); source != nil {
		return metav1.Condition{Status: metav1.ConditionStatus(source.Status), Reason: source.Reason, Message: source.Message}
	}
	return metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1.ReasonUnknown, Message: "The Deployment has not said so yet."}
}

// available is the Deployment's. That too few pods serve is no reason where the pods give one.
func (p pods) available() metav1.Condition {
	condition := p.mirror(appsv1.DeploymentAvailable, metav1.ConditionFalse)
	if worst := p.worst(); worst != nil && condition.Status == metav1.ConditionFalse {
		condition.Reason, condition.Message = worst.Reason, sentence(condition.Message)+" "+p.tell(worst)
	}
	return condition
}

// progressing is the Deployment's, unless that is about an older Deployment: then a rollout
// begins, whatever became of the last one. Its reasons stay: kubectl and others know them.
func (p pods) progressing() metav1.Condition {
	if p.written || p.live != nil && !p.observed() {
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonRollingOut, Message: "The Deployment was changed; its pods follow."}
	}
	condition := p.mirror(appsv1.DeploymentProgressing, metav1.ConditionUnknown)
	if worst := p.worst(); worst != nil && condition.Reason != deploymentRolledOut {
		condition.Message = sentence(condition.Message) + " " + p.tell(worst)
	}
	return condition
}
