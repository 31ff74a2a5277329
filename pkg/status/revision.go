// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// revision returns the numbers of the revisions. While the Deployment could not be written, its pods are still those of
// the last status.
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
	if equality.Semantic.DeepEqual(after, v1.RevisionStatus{}) {
		return nil
	}
	return &after
}

// untilPodsChange is the end of the message of a rollback.
const untilPodsChange = ", until you change the pods in the spec."

// withoutUntil is the message of a rollback while the spec is not carried out: it may have other pods already.
func withoutUntil(message string) string { return strings.Replace(message, untilPodsChange, ".", 1) }

// rolledBack returns the decision about a failed rollout. It is True only once the Deployment has the earlier revision.
func rolledBack(in Input, p pods) (metav1.Condition, bool) {
	if !in.planned() {
		condition, ok := previous(in, v1.ConditionRolledBack)
		if len(in.Invalid) > 0 {
			condition.Message = withoutUntil(condition.Message)
		}
		return condition, ok
	}
	if in.RolledBack == nil {
		return metav1.Condition{}, false
	}
	if in.RolledBack.Status == metav1.ConditionTrue && !p.isApplied(in) {
		was, _ := previous(in, v1.ConditionRolledBack)
		return was, was.Status == metav1.ConditionTrue
	}
	condition := *in.RolledBack
	if condition.Status == metav1.ConditionTrue {
		condition.Message = strings.TrimSuffix(condition.Message, ".") + untilPodsChange
	}
	condition.Message = bounded(condition.Message)
	return condition, true
}

// summarizeRollback is the summary while an earlier revision runs. The spec does not run, so the Application is not ready
// although its pods may serve, which Available reports; and nothing changes until a user edits the spec. If these pods
// have a problem too, it is the reason of Ready.
func summarizeRollback(in Input, p pods, s summary) summary {
	condition, ok := rolledBack(in, p)
	if !ok || condition.Status != metav1.ConditionTrue || !in.planned() {
		return s
	}
	reason := v1.ReasonRolledBack
	if worst := p.Worst(); worst != nil {
		reason = worst.Reason
	}
	return summary{
		stalled: true, reason: reason, stage: v1.ReasonRolledBack,
		message: text.Sentence(condition.Message) + " " + s.message,
		cause:   cmp.Or(s.cause, whyRolledBack(revision(in, p), in.RolledBackBecause)),
	}
}
