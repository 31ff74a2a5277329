// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
)

// Transition is a change between two statuses that deserves an Event.
type Transition struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type    string
	Reason  string
	Message string
	// Related is the child that it is about, or nil. Its namespace, which is the Application's, is empty.
	Related *child.Ref
}

// Transitions returns the transitions from the old status to the new one, the worst first. Call it after the new status
// was written. Both are stored, so a restart repeats no Event. A new Application that becomes ready has only one: that it
// is ready.
func Transitions(old, new v1.ApplicationStatus) []Transition {
	var list []Transition
	for _, resource := range new.Resources {
		if resource.State != v1.ResourceConflict {
			continue
		}
		if was := findResource(old.Resources, resource); was == nil || was.State != v1.ResourceConflict {
			list = append(list, warning(v1.ReasonConflict, resource.Message, related(resource)))
		}
	}
	if stalled := turned(old, new, v1.ConditionStalled, metav1.ConditionTrue); stalled != nil {
		// The loop above has reported each conflict. A rollback had its Event when it began, also if something worse was the reason of
		// Stalled, and ends now.
		if (stalled.Reason != v1.ReasonConflict || len(list) == 0) && (stalled.Reason != v1.ReasonRolledBack || !staysRolledBack(old, new)) {
			list = append(list, warning(stalled.Reason, stalled.Message, cause(new, stalled.Reason)))
		}
	} else if unready := turned(old, new, v1.ConditionReady, metav1.ConditionFalse); unready != nil && needsUser(old, new, unready.Reason) {
		list = append(list, warning(unready.Reason, unready.Message, cause(new, unready.Reason)))
	}
	if back := turned(old, new, v1.ConditionRolledBack, metav1.ConditionTrue); back != nil && !tells(list, back.Message) {
		// Something worse is the reason of Stalled. But Fairlead has changed the pods.
		list = append(list, warning(back.Reason, back.Message, cause(new, back.Reason)))
	}
	for _, side := range sideConditions() {
		before := old
		if side.kind == v1.ConditionDrifted {
			if awaitsAdoption(new) {
				continue
			}
			if awaitsAdoption(old) { // There was no Event about it yet.
				before.Conditions = nil
			}
		}
		if condition := turned(before, new, side.kind, side.status); condition != nil && !slices.Contains(side.toldByReady, condition.Reason) {
			list = append(list, warning(condition.Reason, condition.Message, nil))
		}
	}
	wasReady := meta.IsStatusConditionTrue(old.Conditions, v1.ConditionReady)
	if ready := meta.FindStatusCondition(new.Conditions, v1.ConditionReady); ready != nil && ready.Status == metav1.ConditionTrue && !wasReady {
		list = append(list, Transition{Type: corev1.EventTypeNormal, Reason: ready.Reason, Message: ready.Message})
	}
	return list
}

// staysRolledBack reports whether the rollback of the new status is the one of the old status.
func staysRolledBack(old, new v1.ApplicationStatus) bool {
	was, is := meta.FindStatusCondition(old.Conditions, v1.ConditionRolledBack), meta.FindStatusCondition(new.Conditions, v1.ConditionRolledBack)
	return was != nil && is != nil && was.Status == metav1.ConditionTrue && is.Status == metav1.ConditionTrue &&
		withoutUntil(was.Message) == withoutUntil(is.Message)
}

// awaitsAdoption reports whether the Application waits to adopt a Deployment. What it would change is no news then: the
// plugin begins under Observe, and the controller does not see what exists without the labels. Pods that were healthy once are its own.
func awaitsAdoption(status v1.ApplicationStatus) bool {
	if status.Revision != nil && status.Revision.LastHealthy > 0 {
		return false
	}
	adopted := meta.FindStatusCondition(status.Conditions, v1.ConditionAdopted)
	return adopted != nil && adopted.Status == metav1.ConditionFalse && slices.Contains([]string{v1.ReasonAdopting, v1.ReasonAwaitingConsent}, adopted.Reason)
}

// tells reports whether one of the transitions begins with the message. That of Stalled does after a rollback, whatever its reason.
func tells(list []Transition, message string) bool {
	return slices.ContainsFunc(list, func(t Transition) bool { return strings.HasPrefix(t.Message, text.Sentence(message)) })
}

func warning(reason, message string, related *child.Ref) Transition {
	return Transition{Type: corev1.EventTypeWarning, Reason: reason, Message: message, Related: related}
}

// sideCondition is a condition whose status asks a user to act although Ready may not say so.
type sideCondition struct {
	kind   string
	status metav1.ConditionStatus
	// toldByReady are reasons for which Ready is False too, and has the Event.
	toldByReady []string
}

func sideConditions() []sideCondition {
	return []sideCondition{
		{kind: v1.ConditionDrifted, status: metav1.ConditionTrue},
		{kind: v1.ConditionConfigWatched, status: metav1.ConditionFalse},
		{kind: v1.ConditionMonitoringReady, status: metav1.ConditionFalse, toldByReady: []string{v1.ReasonMonitoringNotApplied}},
		{kind: v1.ConditionRolledBack, status: metav1.ConditionFalse},
	}
}

// saysOther reports whether the condition names another cause for the same reason, so that the Event before would mislead: the user
// created what was missing, and something else is missing now, such as a key of it; or the user changed the spec, and its pods fail in
// another way. Without an edit, another message of the pods is no news: it may alternate, as that of an image that cannot be pulled does.
func saysOther(old, new v1.ApplicationStatus, was, is *metav1.Condition) bool {
	if is.Reason == v1.ReasonConfigMissing {
		// It names only objects and keys, so it changes no more often than they do.
		return was.Message != is.Message
	}
	return was.ObservedGeneration != is.ObservedGeneration && problemMessage(old, is.Reason) != problemMessage(new, is.Reason)
}

// problemMessage returns the message of the worst problem with the reason; "" if there is none. Unlike the message of Ready, it counts
// no pods.
func problemMessage(status v1.ApplicationStatus, reason string) string {
	if i := slices.IndexFunc(status.Problems, func(problem v1.Problem) bool { return problem.Reason == reason }); i >= 0 {
		return status.Problems[i].Message
	}
	return ""
}

// turned returns the condition if it has the status now, and had another one, or had it for another reason or cause.
func turned(old, new v1.ApplicationStatus, kind string, status metav1.ConditionStatus) *metav1.Condition {
	is := meta.FindStatusCondition(new.Conditions, kind)
	if is == nil || is.Status != status {
		return nil
	}
	was := meta.FindStatusCondition(old.Conditions, kind)
	if was != nil && was.Status == is.Status && was.Reason == is.Reason && !saysOther(old, new, was, is) {
		return nil
	}
	return is
}

// needsUser reports whether a user has to act on an Application that is not ready for the reason. A reason that is not
// listed does need one.
func needsUser(old, new v1.ApplicationStatus, reason string) bool {
	switch reason {
	case v1.ReasonApplying, v1.ReasonApplyFailed, // The controller acts, and retries. If that lasts, Stalled has the Event.
		v1.ReasonRollingOut, v1.ReasonDeploymentNotFound, v1.ReasonRoutesPending, // Other controllers act.
		v1.ReasonPaused, v1.ReasonSuspended, // The user has asked for it.
		v1.ReasonDrifted: // The condition Drifted has the Event.
		return false
	case v1.ReasonReadinessFailing:
		return !revisionServes(old) && !revisionServes(new) || stoppedServing(old, new)
	case v1.ReasonPodsUnavailable:
		return stoppedServing(old, new)
	default:
		return true
	}
}

// stoppedServing reports whether pods of a ready Application stopped serving. A rollout and a scale-up have such pods too. If they do not
// end, they exceed their deadline.
func stoppedServing(old, new v1.ApplicationStatus) bool {
	return meta.IsStatusConditionTrue(old.Conditions, v1.ConditionReady) && new.DesiredReplicas <= old.DesiredReplicas
}

// revisionServes reports whether a pod of the current revision is ready. Until one is, a probe that fails for longer than its own settings
// allow may fail forever, and the deadline of the rollout is minutes away. Once one is, the probe is right. Then the next pods may be
// slow, and pods may lose and regain readiness: an Event for each of them would tell nothing new.
func revisionServes(status v1.ApplicationStatus) bool {
	return status.ReadyReplicas > status.Replicas-status.UpdatedReplicas
}

// cause returns the child that keeps the Application from being ready for that reason: the first one that could not be
// written, or else the Deployment.
func cause(status v1.ApplicationStatus, reason string) *child.Ref {
	if reason == v1.ReasonInvalid || reason == v1.ReasonRouteConflict || reason == v1.ReasonDeleting {
		return nil
	}
	if reason == v1.ReasonAPINotServed || reason == v1.ReasonRoutesNotAccepted {
		for _, resource := range status.Resources {
			if resource.Group == child.HTTPRoute.Group && resource.Kind == child.HTTPRoute.Kind {
				return related(resource)
			}
		}
	}
	for _, resource := range status.Resources {
		failed := resource.State == v1.ResourceFailed || resource.State == v1.ResourceConflict
		held := resource.State == v1.ResourcePending && isFirstOf(status, resource)
		if failed && (stalls(reason) || reason == v1.ReasonApplyFailed) || held && reason == v1.ReasonApplying {
			return related(resource)
		}
	}
	for _, resource := range status.Resources {
		if resource.Group == child.Deployment.Group && resource.Kind == child.Deployment.Kind {
			return related(resource)
		}
	}
	return nil
}

// isFirstOf reports whether the message of Stalled begins with the resource.
func isFirstOf(status v1.ApplicationStatus, resource v1.ResourceStatus) bool {
	stalled := meta.FindStatusCondition(status.Conditions, v1.ConditionStalled)
	name := resource.Kind + " " + resource.Name
	return stalled != nil && (strings.HasPrefix(stalled.Message, name+":") || strings.HasPrefix(stalled.Message, name+" and "))
}

func related(resource v1.ResourceStatus) *child.Ref {
	kind := child.Kind{Group: resource.Group, Kind: resource.Kind}
	kinds := child.AllKinds()
	if i := slices.IndexFunc(kinds, func(k child.Kind) bool { return k.Group == resource.Group && k.Kind == resource.Kind }); i >= 0 {
		kind = kinds[i]
	}
	return &child.Ref{Kind: kind, Name: resource.Name}
}
