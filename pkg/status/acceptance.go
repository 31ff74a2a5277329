// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// acceptance tells what the Gateways have said about an HTTPRoute, if it is not yes: for each parent
// that the route asks for, and for its present generation, since what was said of an older one may
// not be true any more.
func acceptance(a assessment) (metav1.Condition, bool) {
	live, ok := a.Live.(*gatewayv1.HTTPRoute)
	if !ok || a.Generation != 0 && a.Generation != live.Generation {
		return pending("it was written just now."), true
	}
	var waiting *metav1.Condition
	for _, parent := range live.Spec.ParentRefs {
		condition, troubled := parentProblem(live, parent)
		switch {
		case !troubled:
		case condition.Reason != v1.ReasonRoutesPending:
			return condition, true
		case waiting == nil:
			waiting = &condition
		}
	}
	if waiting != nil {
		return *waiting, true
	}
	return metav1.Condition{}, false
}

func pending(message string) metav1.Condition {
	return metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1.ReasonRoutesPending, Message: message}
}

// parentProblem looks at one parent. More than one controller may report about it.
func parentProblem(route *gatewayv1.HTTPRoute, parent gatewayv1.ParentReference) (metav1.Condition, bool) {
	name := parentName(route, parent)
	reported := false
	for _, status := range route.Status.Parents {
		if !sameParent(route, status.ParentRef, parent) {
			continue
		}
		reported = true
		for _, kind := range []gatewayv1.RouteConditionType{gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs} {
			condition := findCondition(status.Conditions, string(kind))
			switch {
			case condition == nil || condition.ObservedGeneration < route.Generation || condition.Status == metav1.ConditionUnknown:
				return pending(fmt.Sprintf("%s has not answered yet whether it is %s.", name, kind)), true
			case condition.Status == metav1.ConditionFalse:
				return metav1.Condition{
					Status:  metav1.ConditionFalse,
					Reason:  v1.ReasonRoutesNotAccepted,
					Message: fmt.Sprintf("%s says that it is not %s: %s: %s", name, kind, condition.Reason, sentence(condition.Message)),
				}, true
			}
		}
	}
	if !reported {
		return pending(name + " has not answered yet: it may be missing, or nothing runs that implements it."), true
	}
	return metav1.Condition{}, false
}

func findCondition(conditions []metav1.Condition, kind string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// parentName is how people name the parent: Gateway infra/shared, listener https.
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

// completedParent is a parent with everything that the API has defaults for.
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
