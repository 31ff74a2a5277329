// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// revision has the numbers of what was brought about. As long as the Deployment could not be written, its
// pods are those of before.
func revision(in Input, p pods) *v1.RevisionStatus {
	before := in.Snapshot.Application.Status.Revision
	if !in.planned() {
		return before.DeepCopy()
	}
	after := in.Revision
	if in.observing() || !p.isApplied(in) {
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
	if in.RolledBack.Status == metav1.ConditionTrue && !p.isApplied(in) {
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
	if worst := p.Worst(); worst != nil {
		reason = worst.Reason
	}
	return summary{stalled: true, reason: reason, stage: v1.ReasonRolledBack, message: text.Sentence(condition.Message) + " " + s.message}
}
