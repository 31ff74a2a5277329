// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/fairlead/pkg/child"
)

// A child that refers to an object by name uses its powers: pods run as the ServiceAccount of that name, an Ingress exposes
// the Service, an autoscaler scales the Deployment. So the child is written only while the Application owns that object.
// If the plan cannot know this yet, because the object is about to be written, the child has its name in Needs, and the
// writer checks the result of that write.
//
// A live child that refers to an object of another owner stays as it is. Most often a user replaced the object, or restored
// it from a backup; deleting the child would cause an outage.

// refersTo returns the kinds of the children that a child of the kind refers to by name. Services,
// NetworkPolicies and PodDisruptionBudgets select by the Application's label. A ServiceMonitor does too,
// but it is useless without the Service. A ControllerRevision refers to nothing, but waits too: pods that never
// started are no history.
func refersTo(kind child.Kind) []child.Kind {
	switch kind {
	case child.ControllerRevision, child.Deployment:
		return []child.Kind{child.ServiceAccount, child.ConfigMap}
	case child.HorizontalPodAutoscaler:
		return []child.Kind{child.Deployment}
	case child.Ingress, child.HTTPRoute, child.ServiceMonitor:
		return []child.Kind{child.Service}
	default:
		return nil
	}
}

// withholdDependents makes each child wait that refers to an object that the Application does not own, and each child that
// refers to a waiting one: an autoscaler waits for a Deployment that waits for a ServiceAccount. In the order of the steps,
// a child comes after those that it refers to.
func withholdDependents(steps []Step) {
	for i := range steps {
		step := &steps[i]
		if step.Desired == nil {
			continue
		}
		for _, kind := range refersTo(step.Ref.Kind) {
			for _, target := range steps[:i] {
				if target.Desired != nil && target.Ref.Kind == kind {
					step.needs(target)
				}
			}
		}
	}
}

// needs adds the target's child to the Needs of the step.
func (s *Step) needs(target Step) {
	switch s.Action {
	case Create, Apply, Scale, Keep, Adopt:
	default:
		return // It is not written anyway.
	}
	switch {
	case target.Action == Create, target.Action == Apply, target.Action == Adopt:
		s.Needs = append(s.Needs, target.Ref)
	case !(Result{Step: target}).owned() || s.startsAutoscaling() && target.Action == WaitDependency:
		*s = s.WaitOwned(Result{Step: target})
	}
}

// startsAutoscaling reports whether the step creates an autoscaler. It waits until its Deployment is written, because its
// creation hands replicas over.
func (s *Step) startsAutoscaling() bool {
	return s.Ref.Kind == child.HorizontalPodAutoscaler && s.Action == Create && !s.Drift
}

// WaitOwned returns the step as one that waits until the Application owns the child of the result, to which it refers.
func (s Step) WaitOwned(target Result) Step {
	done, why := target.Done(), "does not exist yet"
	switch done.Action {
	case NotOwned:
		why = "does not belong to the Application"
	case WaitDependency:
		why = "waits too" // An object without Fairlead's labels may have the name: the cache does not have it.
	}
	s = s.wait(fmt.Sprintf("it refers to %s %s, which %s", target.Ref.Kind, target.Ref.Name, why))
	s.Needs = []child.Ref{target.Ref}
	return s
}

// Unowned returns the first result of a child that the step refers to and that does not prove that the Application owns the
// child; found is false if all do.
func (s Step) Unowned(results []Result) (target Result, found bool) {
	for _, ref := range s.Needs {
		for _, result := range results {
			if result.Ref == ref && (!result.owned() || s.startsAutoscaling() && result.Done().Action == WaitDependency) {
				return result, true
			}
		}
	}
	return Result{}, false
}

// owned reports whether the result proves that the child exists and that the Application owns it.
//
// A create that fails proves nothing, whatever the error: a quota or a policy may refuse it before the API server checks
// whether the name is taken. An apply carries the UID; a conflict may mean that another object has the name now.
func (r Result) owned() bool {
	switch done := r.Done(); done.Action {
	case Keep, WaitDeletion:
		return true
	case Create, Adopt:
		return r.Err == nil
	case Apply, Scale:
		return !apierrors.IsConflict(r.Err) && !apierrors.IsNotFound(r.Err)
	case Backoff, WaitDependency:
		return done.Live != nil
	default:
		return false
	}
}
