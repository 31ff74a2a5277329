// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	suspendedSummary = "Fairlead does nothing, as reconcilePolicy asks."
	suspendedMessage = "Fairlead does nothing about the Application, because spec.reconcilePolicy is Suspend. " +
		"The other conditions and the numbers in .status show the state before that."

	// What a user who deleted the Deployment would wait for in vain.
	suspendedWithoutSummary = "No Deployment; none is created while suspended."
	suspendedWithoutMessage = suspendedMessage + " The controller sees no Deployment of the Application, and creates none before the suspension ends."
)

// suspended returns the status of an Application that the controller leaves alone. It is the last one, so a condition that stays has the
// generation that it is about. Only Ready is new: without it, a user would read the last reason as the present one. What says that
// something goes on, or waits for a user, no longer holds.
func suspended(in Input, now time.Time) v1.ApplicationStatus {
	application, summary, message := in.Snapshot.Application, suspendedSummary, suspendedMessage
	if in.Health.Deployment == nil {
		summary, message = suspendedWithoutSummary, suspendedWithoutMessage
	}
	next := *application.Status.DeepCopy()
	next.ObservedGeneration, next.Summary = application.Generation, summary
	next.Conditions = slices.DeleteFunc(next.Conditions, func(condition metav1.Condition) bool {
		return slices.Contains([]string{v1.ConditionReconciling, v1.ConditionStalled, v1.ConditionDrifted}, condition.Type)
	})
	if back := meta.FindStatusCondition(next.Conditions, v1.ConditionRolledBack); back != nil {
		back.Message = withoutUntil(back.Message)
	}
	meta.SetStatusCondition(&next.Conditions, metav1.Condition{
		Type: v1.ConditionReady, Status: metav1.ConditionUnknown, Reason: v1.ReasonSuspended, Message: message,
		ObservedGeneration: application.Generation, LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(),
	})
	return next
}
