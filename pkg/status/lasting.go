// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/plan"
)

// The controller retries a write that fails, and waits for a child that is being deleted. Most such obstacles go away. One that lasts
// needs a user, who may have nothing but conditions, Events and alerts to learn of it.
const (
	// failureGrace is how long writes may fail before the Application is Stalled. A webhook, or an API server, that restarts answers
	// again sooner.
	failureGrace = 2 * time.Minute
	// terminationGrace is how long the finalizer of another controller may hold a child before the Application is Stalled. The
	// controller of a load balancer may take minutes to release one.
	terminationGrace = 5 * time.Minute
)

// StallsAfter returns after which time the status says that a user must act, if nothing changes until then; 0 is never. The controller
// retries failed writes sooner, so it is about children that are being deleted.
func StallsAfter(in Input) time.Duration {
	var first time.Duration
	for _, result := range in.Results {
		if left, held := in.heldFor(result); held && left > 0 && (first == 0 || left < first) {
			first = left
		}
	}
	return first
}

// lasting returns those of the children whose obstacle lasts, so that a user must act. All of them have the same reason.
func (in Input) lasting(same []assessment, reason string, now time.Time) []assessment {
	switch reason {
	case v1.ReasonApplyFailed:
		if in.failsSince(now).Add(failureGrace).After(now) {
			return nil
		}
		return same
	case v1.ReasonApplying:
		return slices.DeleteFunc(slices.Clone(same), func(a assessment) bool {
			left, held := in.heldFor(a.Result)
			return !held || left > 0
		})
	default:
		return nil
	}
}

// failsSince returns since when writes of children fail, as the last status says: Reconciling has the time, and gives way to Stalled. So
// another replica knows it too.
func (in Input) failsSince(now time.Time) time.Time {
	for _, kind := range []string{v1.ConditionReconciling, v1.ConditionStalled} {
		was := meta.FindStatusCondition(in.Snapshot.Application.Status.Conditions, kind)
		switch {
		case was == nil || was.Status != metav1.ConditionTrue || was.Reason != v1.ReasonApplyFailed:
		case kind == v1.ConditionStalled:
			return time.Time{} // Stalled may be younger: it began when the grace was over.
		default:
			return was.LastTransitionTime.Time
		}
	}
	return now
}

// beginsToFail reports whether Reconciling is True because writes begin to fail. Its lastTransitionTime shows since when, so it
// changes although the status does not.
func beginsToFail(was, is metav1.Condition) bool {
	return is.Type == v1.ConditionReconciling && is.Reason == v1.ReasonApplyFailed && was.Reason != v1.ReasonApplyFailed
}

// heldFor reports whether the Application waits for a child that the finalizer of another controller holds. left is how long it may
// do so yet before a user must act; 0 or less is no more.
func (in Input) heldFor(result plan.Result) (left time.Duration, held bool) {
	if result.Action != plan.WaitDeletion || result.Err != nil || result.Desired == nil || in.observing() || len(foreignFinalizers(result.Live)) == 0 {
		return 0, false
	}
	deleted := result.Live.GetDeletionTimestamp()
	if deleted == nil {
		return 0, false
	}
	return terminationGrace - in.ServerTime.Sub(deleted.Time), true
}
