// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/fairlead/pkg/child"
)

// A child that refers to another by name gives that one's powers away: pods run as the ServiceAccount
// of that name, an Ingress exposes the Service, an autoscaler scales the Deployment. So it is written
// only while the other one is the Application's. Where the plan cannot know that yet, because the other
// one is about to be written, the child carries its name in Needs, and the writer asks the result.
//
// A live child that refers to a foreign object stays as it is. Most often the object was replaced by hand
// or restored from a backup, and to delete what leads there would turn that into an outage.

// refersTo returns the kinds of the children that a child of the kind refers to by name. Services,
// NetworkPolicies and PodDisruptionBudgets select by the Application's label. A ServiceMonitor does too,
// but it is useless without the Service. A ControllerRevision itself refers to nothing, but waits too: it is no
// history before they may start.
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

// withholdDependents makes each child wait that refers to one which is not the Application's, and so on:
// an autoscaler waits for a Deployment that waits for a ServiceAccount. The steps are in the order of the
// rendering, in which a child comes after those that it refers to.
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

// needs notes that the child refers to the target's.
func (s *Step) needs(target Step) {
	switch s.Action {
	case Create, Apply, Scale, Keep:
	default:
		return // It is not written anyway.
	}
	switch {
	case target.Action == Create, target.Action == Apply:
		s.Needs = append(s.Needs, target.Ref)
	case !(Result{Step: target}).owned() || s.startsAutoscaling() && target.Action == WaitDependency:
		*s = s.WaitOwned(Result{Step: target})
	}
}

// startsAutoscaling: a new autoscaler waits for its Deployment to be written, since its creation is what
// hands replicas over.
func (s *Step) startsAutoscaling() bool {
	return s.Ref.Kind == child.HorizontalPodAutoscaler && s.Action == Create && !s.Drift
}

// WaitOwned returns the step as one that waits until the child of the result, which it refers to, is the
// Application's.
func (s Step) WaitOwned(target Result) Step {
	why := "does not exist yet"
	if target.Done().Action == NotOwned {
		why = "does not belong to the Application"
	}
	s = s.wait(fmt.Sprintf("it refers to %s %s, which %s", target.Ref.Kind, target.Ref.Name, why))
	s.Needs = []child.Ref{target.Ref}
	return s
}

// Unowned returns the first result of a child that the step refers to and that is not proven to be the
// Application's; found is false if all are.
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

// owned reports whether the child is there and the Application's.
//
// A create that fails proves nothing, whatever the error: a quota or a policy refuses it before the API
// server looks whether the name is taken. An apply carries the UID; a conflict may mean that it is another
// object's by now.
func (r Result) owned() bool {
	switch done := r.Done(); done.Action {
	case Keep, WaitDeletion:
		return true
	case Create:
		return r.Err == nil
	case Apply, Scale:
		return !apierrors.IsConflict(r.Err) && !apierrors.IsNotFound(r.Err)
	case Backoff, WaitDependency:
		return done.Live != nil
	default:
		return false
	}
}
