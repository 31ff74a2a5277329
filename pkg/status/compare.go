// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Urgency is how soon the caller must write a new status.
type Urgency int

const (
	// Unchanged: there is nothing to write.
	Unchanged Urgency = iota
	// Batched: an intermediate change. A rollout changes its counts and reasons many times, and one write covers them
	// all. The caller must write the last one.
	Batched
	// Now: a change that a user or tool waits for.
	Now
)

func (u Urgency) String() string {
	switch u {
	case Unchanged:
		return "Unchanged"
	case Batched:
		return "Batched"
	default:
		return "Now"
	}
}

// Compare returns how soon the new status must replace the old one. The order of conditions and resources and a
// lastTransitionTime alone make no difference.
//
// The first status of a new Application may wait until it is ready. Until then the default of observedGeneration shows
// that no sync has reported.
func Compare(old, new v1.ApplicationStatus) Urgency {
	switch {
	case sameFacts(old, new) && sameConditions(old, new) && sameCounts(old, new) && sameMessages(old, new) &&
		slices.Equal(old.Problems, new.Problems):
		return Unchanged
	case headlineOf(old) != headlineOf(new):
		return Now
	case isSteady(new) && !sameFacts(old, new):
		return Now // No later change will follow to batch it with.
	default:
		return Batched
	}
}

// isSteady reports whether the Application is ready, or waits for a user.
func isSteady(s v1.ApplicationStatus) bool {
	if ready := meta.FindStatusCondition(s.Conditions, v1.ConditionReady); ready != nil && ready.Reason == v1.ReasonSuspended {
		return true
	}
	return meta.IsStatusConditionTrue(s.Conditions, v1.ConditionReady) || meta.IsStatusConditionTrue(s.Conditions, v1.ConditionStalled)
}

// headline is what users and tools wait for.
type headline struct {
	ready   bool
	drifted bool
	// stalled is the reason of Stalled, or "".
	stalled string
	// problems are the resources that are not as they should be, each with its state.
	problems string
}

func headlineOf(s v1.ApplicationStatus) headline {
	h := headline{
		ready:   meta.IsStatusConditionTrue(s.Conditions, v1.ConditionReady),
		drifted: meta.IsStatusConditionTrue(s.Conditions, v1.ConditionDrifted),
	}
	if stalled := meta.FindStatusCondition(s.Conditions, v1.ConditionStalled); stalled != nil && stalled.Status == metav1.ConditionTrue {
		h.stalled = stalled.Reason
	}
	var problems []string
	for _, resource := range s.Resources {
		switch resource.State {
		case v1.ResourceConflict, v1.ResourceFailed, v1.ResourceDrifted:
			problems = append(problems, strings.Join([]string{resource.Group, resource.Kind, resource.Name, string(resource.State)}, " "))
		}
	}
	slices.Sort(problems)
	h.problems = strings.Join(problems, ",")
	return h
}

// sameFacts compares the fields that are not about pods. Names of resources are unique, so two lists are equal sets if
// they have the same length and the new one has every old resource.
func sameFacts(old, new v1.ApplicationStatus) bool {
	if !equality.Semantic.DeepEqual(old.Class, new.Class) || !equality.Semantic.DeepEqual(old.RefusedClass, new.RefusedClass) || !equality.Semantic.DeepEqual(old.Revision, new.Revision) || old.ObservedGeneration != new.ObservedGeneration || old.Selector != new.Selector || old.Image != new.Image ||
		!equality.Semantic.DeepEqual(old.Adoption, new.Adoption) ||
		!slices.Equal(old.URLs, new.URLs) || len(old.Resources) != len(new.Resources) {
		return false
	}
	for _, was := range old.Resources {
		is := findResource(new.Resources, was)
		if is == nil || was.UID != is.UID || was.State != is.State {
			return false
		}
	}
	return true
}

// sameConditions compares the conditions without their messages and times.
func sameConditions(old, new v1.ApplicationStatus) bool {
	if len(old.Conditions) != len(new.Conditions) {
		return false
	}
	for _, was := range old.Conditions {
		is := meta.FindStatusCondition(new.Conditions, was.Type)
		if is == nil || was.Status != is.Status || was.Reason != is.Reason || was.ObservedGeneration != is.ObservedGeneration {
			return false
		}
	}
	return true
}

func sameCounts(old, new v1.ApplicationStatus) bool {
	return old.DesiredReplicas == new.DesiredReplicas &&
		old.Replicas == new.Replicas &&
		old.UpdatedReplicas == new.UpdatedReplicas &&
		old.ReadyReplicas == new.ReadyReplicas &&
		old.AvailableReplicas == new.AvailableReplicas
}

// sameMessages compares the messages of two statuses of the same state.
func sameMessages(old, new v1.ApplicationStatus) bool {
	if old.Summary != new.Summary {
		return false
	}
	for _, was := range old.Conditions {
		if is := meta.FindStatusCondition(new.Conditions, was.Type); is == nil || was.Message != is.Message {
			return false
		}
	}
	for _, was := range old.Resources {
		if is := findResource(new.Resources, was); is == nil || was.Message != is.Message {
			return false
		}
	}
	return true
}

// findResource returns the resource of the same group, kind and name, or nil.
func findResource(resources []v1.ResourceStatus, like v1.ResourceStatus) *v1.ResourceStatus {
	for i := range resources {
		if r := &resources[i]; r.Kind == like.Kind && r.Name == like.Name && r.Group == like.Group {
			return r
		}
	}
	return nil
}
