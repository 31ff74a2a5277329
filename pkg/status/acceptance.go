// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// acceptance returns the worst problem that Gateways report about an HTTPRoute, for each of its parents. Only
// reports about the current generation count.
func acceptance(a assessment) routeProblem {
	live, ok := a.Live.(*gatewayv1.HTTPRoute)
	if !ok || a.Generation != 0 && a.Generation != live.Generation {
		return pending("it was just written; waiting for the Gateway.")
	}
	var worst routeProblem
	for _, parent := range live.Spec.ParentRefs {
		if problem := parentProblem(live, parent); problem.worse(worst) {
			worst = problem
		}
	}
	return worst
}

func pending(message string) routeProblem {
	return routeProblem{status: metav1.ConditionUnknown, reason: v1.ReasonRoutesPending, message: message, transient: true}
}

// parentProblem returns the problem of one parent. More than one controller may have reported on it. One that accepts
// outweighs one without a current report, which may have been uninstalled.
func parentProblem(route *gatewayv1.HTTPRoute, parent gatewayv1.ParentReference) routeProblem {
	name := parentName(route, parent)
	problem := pending(name + " has not reported on it yet. Check that it exists and that its controller runs.")
	accepted := false
	for _, status := range route.Status.Parents {
		if !sameParent(route, status.ParentRef, parent) {
			continue
		}
		switch reported := reportedProblem(route.Generation, name, status.Conditions); reported.reason {
		case "":
			accepted = true
		case v1.ReasonRoutesPending:
			problem = reported
		default:
			return reported
		}
	}
	if accepted {
		return routeProblem{}
	}
	return problem
}

// reportedProblem returns the problem that one controller reports about one parent.
func reportedProblem(generation int64, parent string, conditions []metav1.Condition) routeProblem {
	for _, kind := range []gatewayv1.RouteConditionType{gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs} {
		condition := meta.FindStatusCondition(conditions, string(kind))
		switch {
		case condition == nil || condition.ObservedGeneration < generation || condition.Status == metav1.ConditionUnknown:
			return pending(fmt.Sprintf("%s has not reported %s yet.", parent, kind))
		case condition.Status == metav1.ConditionFalse:
			return routeProblem{
				status:  metav1.ConditionFalse,
				reason:  v1.ReasonRoutesNotAccepted,
				message: fmt.Sprintf("%s reports %s=False: %s: %s", parent, kind, condition.Reason, text.Sentence(condition.Message)),
				cause:   fmt.Sprintf("%s: %s", parent, condition.Reason),
				// The Gateway may not have observed a new Service yet.
				transient: condition.Reason == string(gatewayv1.RouteReasonBackendNotFound),
			}
		}
	}
	return routeProblem{}
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
