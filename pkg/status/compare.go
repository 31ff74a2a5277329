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

// Urgency says how soon a new status is to be written.
type Urgency int

const (
	// Same is nothing to write.
	Same Urgency = iota
	// Soon is a change on the way to somewhere: a rollout moves its counts and reasons many times,
	// and one write does for all of them. The caller must see to it that the last one is written.
	Soon
	// Now is a change that somebody waits for, or should hear of.
	Now
)

func (u Urgency) String() string {
	switch u {
	case Same:
		return "Same"
	case Soon:
		return "Soon"
	default:
		return "Now"
	}
}

// Compare says how soon the new status is to be written over the old one. It is asked before
// each write of a status. The order of conditions and resources makes no difference, nor does
// a lastTransitionTime alone.
//
// A new Application that only gets going has nothing to say yet: its first status may well be
// that it is ready. Until then the default of observedGeneration tells that nothing was seen.
func Compare(old, new v1.ApplicationStatus) Urgency {
	switch {
	case sameFacts(old, new) && sameConditions(old, new) && sameCounts(old, new) && sameMessages(old, new) &&
		slices.Equal(old.Problems, new.Problems):
		return Same
	case headlineOf(old) != headlineOf(new):
		return Now
	case atRest(new) && !sameFacts(old, new):
		return Now // Nothing will follow that this could wait for.
	default:
		return Soon
	}
}

// atRest tells that it is all done, or that a person has to act.
func atRest(s v1.ApplicationStatus) bool {
	return meta.IsStatusConditionTrue(s.Conditions, v1.ConditionReady) || meta.IsStatusConditionTrue(s.Conditions, v1.ConditionStalled)
}

// headline is what people and their tools wait for.
type headline struct {
	ready   bool
	drifted bool
	// stalled is the reason of Stalled, or "".
	stalled string
	// troubles are the resources that are not as they should be, each with its state.
	troubles string
}

func headlineOf(s v1.ApplicationStatus) headline {
	h := headline{
		ready:   meta.IsStatusConditionTrue(s.Conditions, v1.ConditionReady),
		drifted: meta.IsStatusConditionTrue(s.Conditions, v1.ConditionDrifted),
	}
	if stalled := meta.FindStatusCondition(s.Conditions, v1.ConditionStalled); stalled != nil && stalled.Status == metav1.ConditionTrue {
		h.stalled = stalled.Reason
	}
	var troubles []string
	for _, resource := range s.Resources {
		switch resource.State {
		case v1.ResourceConflict, v1.ResourceFailed, v1.ResourceDrifted:
			troubles = append(troubles, strings.Join([]string{resource.Group, resource.Kind, resource.Name, string(resource.State)}, " "))
		}
	}
	slices.Sort(troubles)
	h.troubles = strings.Join(troubles, ",")
	return h
}

// sameFacts compares what is true of the Application beside its pods. Names of resources are
// unique, so equal lengths and every old one found again mean equal sets.
func sameFacts(old, new v1.ApplicationStatus) bool {
	if !equality.Semantic.DeepEqual(old.Class, new.Class) || !equality.Semantic.DeepEqual(old.Revision, new.Revision) || old.ObservedGeneration != new.ObservedGeneration || old.Selector != new.Selector || old.Image != new.Image ||
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

// sameConditions compares the conditions but for their messages and times.
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
