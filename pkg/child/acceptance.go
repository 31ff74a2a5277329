// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// RouteProblem is why a Gateway does not route requests by an HTTPRoute. The zero value is none.
type RouteProblem struct {
	// Refused: a Gateway has refused it; else one has not reported on its current generation yet.
	Refused bool
	Message string
	// Cause is a short form of the Message; "" if it is short itself.
	Cause string
	// Transient: nobody has to act.
	Transient bool
}

func pending(message string) RouteProblem { return RouteProblem{Message: message, Transient: true} }

// worse reports whether one problem outranks another one.
func (p RouteProblem) worse(than RouteProblem) bool {
	rank := func(p RouteProblem) int {
		switch {
		case p.Refused && !p.Transient:
			return 3
		case p.Refused:
			return 2
		case p.Message != "":
			return 1
		default:
			return 0
		}
	}
	return rank(p) > rank(than)
}

// Acceptance returns the worst problem that Gateways report about an HTTPRoute, for each of its parents. Only reports
// about the current generation count.
func Acceptance(route *gatewayv1.HTTPRoute) RouteProblem {
	var worst RouteProblem
	for _, parent := range route.Spec.ParentRefs {
		if problem := parentProblem(route, parent); problem.worse(worst) {
			worst = problem
		}
	}
	return worst
}

// AcceptedSince returns when the last Gateway accepted an HTTPRoute, by the clock of its controller; the zero time, if there
// was no Gateway to ask. It returns false while a Gateway has not accepted the route.
func AcceptedSince(route *gatewayv1.HTTPRoute) (time.Time, bool) {
	if Acceptance(route) != (RouteProblem{}) {
		return time.Time{}, false
	}
	var last time.Time
	for _, status := range route.Status.Parents {
		if !slices.ContainsFunc(route.Spec.ParentRefs, func(parent gatewayv1.ParentReference) bool { return sameParent(route, status.ParentRef, parent) }) {
			continue
		}
		for _, kind := range verdicts {
			if condition := meta.FindStatusCondition(status.Conditions, string(kind)); condition != nil && condition.LastTransitionTime.After(last) {
				last = condition.LastTransitionTime.Time
			}
		}
	}
	return last, true
}

// verdicts are the conditions by which a Gateway says whether it routes requests.
var verdicts = []gatewayv1.RouteConditionType{gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs}

// IsServed reports whether a Gateway routes requests by an HTTPRoute. Its last report counts, also one about an earlier generation: it goes
// on serving that one.
func IsServed(route *gatewayv1.HTTPRoute) bool {
	reported := *route
	reported.Generation = 0
	return len(route.Spec.ParentRefs) == 0 || slices.ContainsFunc(route.Spec.ParentRefs, func(parent gatewayv1.ParentReference) bool {
		return parentProblem(&reported, parent) == (RouteProblem{})
	})
}

// parentProblem returns the problem of one parent. More than one controller may have reported on it. One that accepts
// outweighs one without a current report, which may have been uninstalled.
func parentProblem(route *gatewayv1.HTTPRoute, parent gatewayv1.ParentReference) RouteProblem {
	name := parentName(route, parent)
	problem := pending(name + " has not reported on it yet. Check that it exists and that its controller runs.")
	accepted := false
	for _, status := range route.Status.Parents {
		if !sameParent(route, status.ParentRef, parent) {
			continue
		}
		switch reported := reportedProblem(route.Generation, name, status.Conditions); {
		case reported.Refused:
			return reported
		case reported.Message != "":
			problem = reported
		default:
			accepted = true
		}
	}
	if accepted {
		return RouteProblem{}
	}
	return problem
}

// reportedProblem returns the problem that one controller reports about one parent.
func reportedProblem(generation int64, parent string, conditions []metav1.Condition) RouteProblem {
	for _, kind := range verdicts {
		condition := meta.FindStatusCondition(conditions, string(kind))
		switch {
		case condition == nil || condition.ObservedGeneration < generation || condition.Status == metav1.ConditionUnknown:
			return pending(fmt.Sprintf("%s has not reported %s yet.", parent, kind))
		case condition.Status == metav1.ConditionFalse:
			return RouteProblem{
				Refused: true,
				Message: fmt.Sprintf("%s reports %s=False: %s: %s", parent, kind, condition.Reason, condition.Message),
				Cause:   fmt.Sprintf("%s: %s", parent, condition.Reason),
				// The Gateway may not have observed a new Service yet.
				Transient: condition.Reason == string(gatewayv1.RouteReasonBackendNotFound),
			}
		}
	}
	return RouteProblem{}
}

// parentName names a parent for users: Gateway infra/shared, listener https.
func parentName(route *gatewayv1.HTTPRoute, parent gatewayv1.ParentReference) string {
	p := completed(route, parent)
	name := fmt.Sprintf("%s %s/%s", p.kind, p.namespace, p.name)
	if p.section != "" {
		name += ", listener " + p.section
	}
	if p.port != 0 {
		name += fmt.Sprintf(", port %d", p.port)
	}
	return name
}

// completedParent is a parent with the defaults of the API.
type completedParent struct {
	group, kind, namespace, name, section string
	port                                  int32
}

func completed(route *gatewayv1.HTTPRoute, parent gatewayv1.ParentReference) completedParent {
	p := completedParent{group: gatewayv1.GroupName, kind: "Gateway", namespace: route.Namespace, name: string(parent.Name)}
	if parent.Group != nil {
		p.group = string(*parent.Group)
	}
	if parent.Kind != nil {
		p.kind = string(*parent.Kind)
	}
	if parent.Namespace != nil {
		p.namespace = string(*parent.Namespace)
	}
	if parent.SectionName != nil {
		p.section = string(*parent.SectionName)
	}
	if parent.Port != nil {
		p.port = *parent.Port
	}
	return p
}

func sameParent(route *gatewayv1.HTTPRoute, a, b gatewayv1.ParentReference) bool {
	return completed(route, a) == completed(route, b)
}
