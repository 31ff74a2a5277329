// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Rollout is how far the rollout of the Deployment came, as far as the caches show it.
type Rollout struct {
	// Complete: there are pods, all are of the newest template and available.
	Complete bool
	// Failed: no progress was made until the deadline.
	Failed bool
	// Reason is that of the worst problem which explains why pods do not serve, and Message tells it.
	Reason, Message string
}

// ObserveRollout is asked before anything is rendered, since that may depend on the answer. No pods prove
// nothing: a rollout that was never tried is not complete.
func ObserveRollout(snapshot child.Snapshot, now time.Time) Rollout {
	p := observePods(Input{Snapshot: snapshot}, now)
	if !p.observed() {
		return Rollout{}
	}
	rollout := Rollout{Complete: p.complete() && p.desired > 0}
	if progressing := p.condition(appsv1.DeploymentProgressing); progressing != nil {
		rollout.Failed = progressing.Reason == deploymentTimedOut && !p.complete()
	}
	if worst := p.worst(); worst != nil {
		rollout.Reason, rollout.Message = worst.Reason, p.tell(worst)
	}
	return rollout
}

// revision has the numbers of what was brought about. As long as the Deployment could not be written, its
// pods are those of before.
func revision(in Input, p pods) *v1.RevisionStatus {
	before := in.Snapshot.Application.Status.Revision
	if !in.planned() {
		return before.DeepCopy()
	}
	after := in.Revision
	if in.observing() || !p.brought(in) {
		after.Current, after.RolledBackFrom = 0, 0
		if before != nil {
			after.Current, after.RolledBackFrom = before.Current, before.RolledBackFrom
		}
	}
	if after == (v1.RevisionStatus{}) {
		return nil
	}
	return &after
}

// rolledBack is what was decided about a failed rollout. A former revision runs only once the Deployment
// has it.
func rolledBack(in Input, p pods) (metav1.Condition, bool) {
	if !in.planned() {
		return previous(in, v1.ConditionRolledBack)
	}
	if in.RolledBack == nil {
		return metav1.Condition{}, false
	}
	if in.RolledBack.Status == metav1.ConditionTrue && !p.brought(in) {
		was, _ := previous(in, v1.ConditionRolledBack)
		return was, was.Status == metav1.ConditionTrue
	}
	condition := *in.RolledBack
	condition.Message = bounded(condition.Message)
	return condition, true
}

// summarizeRollback is the summary while a former revision runs. What the spec asks for does not, so it is
// not ready, however well the pods serve; and nothing will change until somebody edits the spec. Whether
// they serve is what Available says. Only if those pods have a problem too, that is the reason of Ready.
func summarizeRollback(in Input, p pods, s summary) summary {
	condition, ok := rolledBack(in, p)
	if !ok || condition.Status != metav1.ConditionTrue || !in.planned() {
		return s
	}
	reason := v1.ReasonRolledBack
	if worst := p.worst(); worst != nil {
		reason = worst.Reason
	}
	return summary{stalled: true, reason: reason, stage: v1.ReasonRolledBack, message: sentence(condition.Message) + " " + s.message}
}
