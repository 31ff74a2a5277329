// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
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
// was written. A new Application that becomes ready has only one: that it is ready.
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
	if stalled := began(old, new, v1.ConditionStalled); stalled != nil {
		// The loop above has reported each conflict.
		if stalled.Reason != v1.ReasonConflict || len(list) == 0 {
			list = append(list, warning(stalled.Reason, stalled.Message, cause(new, stalled.Reason)))
		}
	} else if ready := newProblem(old, new); ready != nil {
		list = append(list, warning(ready.Reason, ready.Message, cause(new, ready.Reason)))
	}
	if drifted := began(old, new, v1.ConditionDrifted); drifted != nil {
		list = append(list, warning(drifted.Reason, drifted.Message, nil))
	}
	wasReady := meta.IsStatusConditionTrue(old.Conditions, v1.ConditionReady)
	if ready := meta.FindStatusCondition(new.Conditions, v1.ConditionReady); ready != nil && ready.Status == metav1.ConditionTrue && !wasReady {
		list = append(list, Transition{Type: corev1.EventTypeNormal, Reason: ready.Reason, Message: ready.Message})
	}
	return list
}

func warning(reason, message string, related *child.Ref) Transition {
	return Transition{Type: corev1.EventTypeWarning, Reason: reason, Message: message, Related: related}
}

// began returns the condition if it is True now and was not, or was for another reason.
func began(old, new v1.ApplicationStatus, kind string) *metav1.Condition {
	is := meta.FindStatusCondition(new.Conditions, kind)
	if is == nil || is.Status != metav1.ConditionTrue {
		return nil
	}
	was := meta.FindStatusCondition(old.Conditions, kind)
	if was != nil && was.Status == metav1.ConditionTrue && was.Reason == is.Reason {
		return nil
	}
	return is
}

// newProblem returns the condition Ready if the pods have a new problem that Kubernetes may still resolve. Unavailable
// pods are a problem only if they were available: a rollout and a scale-up pass through the same state.
func newProblem(old, new v1.ApplicationStatus) *metav1.Condition {
	is := meta.FindStatusCondition(new.Conditions, v1.ConditionReady)
	if is == nil || is.Status == metav1.ConditionTrue {
		return nil
	}
	was := meta.FindStatusCondition(old.Conditions, v1.ConditionReady)
	if was != nil && was.Status == is.Status && was.Reason == is.Reason {
		return nil
	}
	switch is.Reason {
	case v1.ReasonDeleting, // A deletion that need not wait never has this reason.
		v1.ReasonQuotaExceeded, v1.ReasonPolicyDenied, v1.ReasonReplicaFailure,
		v1.ReasonConfigError, v1.ReasonImagePullFailed, v1.ReasonInitFailed, v1.ReasonStartFailed, v1.ReasonCrashLooping,
		v1.ReasonUnschedulable, v1.ReasonVolumeNotMounting, v1.ReasonNodeLost:
		return is
	case v1.ReasonPodsUnavailable, v1.ReasonReadinessFailing:
		if was != nil && was.Status == metav1.ConditionTrue && new.DesiredReplicas <= old.DesiredReplicas {
			return is
		}
	}
	return nil
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
	if stalls(reason) {
		for _, resource := range status.Resources {
			if resource.State == v1.ResourceFailed || resource.State == v1.ResourceConflict {
				return related(resource)
			}
		}
	}
	for _, resource := range status.Resources {
		if resource.Group == child.Deployment.Group && resource.Kind == child.Deployment.Kind {
			return related(resource)
		}
	}
	return nil
}

func related(resource v1.ResourceStatus) *child.Ref {
	kind := child.Kind{Group: resource.Group, Kind: resource.Kind}
	kinds := child.AllKinds()
	if i := slices.IndexFunc(kinds, func(k child.Kind) bool { return k.Group == resource.Group && k.Kind == resource.Kind }); i >= 0 {
		kind = kinds[i]
	}
	return &child.Ref{Kind: kind, Name: resource.Name}
}
