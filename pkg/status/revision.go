// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// revision returns the numbers of the revisions. While the Deployment could not be written, its pods are still those of
// the last status. While the ControllerRevision could not be written, it still has its former number: with the new one, the next sync would
// not find it, and take it for one that was never healthy.
func revision(in Input, p pods) *v1.RevisionStatus {
	before := in.Snapshot.Application.Status.Revision
	if !in.planned() {
		return before.DeepCopy()
	}
	after := in.Revision
	if in.RenumberedFrom != 0 && !in.isWritten(in.Renumbered) {
		after = withNumber(after, in.Revision.Current, in.RenumberedFrom)
	}
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

// isWritten reports whether the child is as rendered after the sync.
func (in Input) isWritten(ref child.Ref) bool {
	result, found := in.result(ref)
	return found && upToDate(result) && (result.Action == plan.Keep || !in.observing())
}

// withNumber replaces the number of a revision by another one.
func withNumber(numbers v1.RevisionStatus, from, to int64) v1.RevisionStatus {
	replace := func(number int64) int64 {
		if number == from {
			return to
		}
		return number
	}
	numbers.Current, numbers.LastHealthy = replace(numbers.Current), replace(numbers.LastHealthy)
	numbers.FormerHealthy = slices.Clone(numbers.FormerHealthy)
	for i, number := range numbers.FormerHealthy {
		numbers.FormerHealthy[i] = replace(number)
	}
	slices.SortFunc(numbers.FormerHealthy, func(a, b int64) int { return cmp.Compare(b, a) })
	return numbers
}

// untilOtherPods is the end of the message of a rollback.
const untilOtherPods = ", until the spec or its class asks for other pods."

// withoutUntil is the message of a rollback while the spec is not carried out: it may have other pods already.
func withoutUntil(message string) string { return strings.Replace(message, untilOtherPods, ".", 1) }

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
		condition.Message = strings.TrimSuffix(condition.Message, ".") + untilOtherPods
	}
	condition.Message = bounded(condition.Message)
	return condition, true
}

// summarizeRollback is the summary while an earlier revision runs. The spec does not run, so the Application is not ready
// although its pods may serve, which Available reports; and nothing changes until the spec or the class does. If these
// pods have a problem too, it is the reason of Ready.
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
