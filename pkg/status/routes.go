// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// routesReady is about the children that carry routes: the worst that is true of any.
func routesReady(in Input, children []assessment) (metav1.Condition, bool) {
	if !in.planned() {
		return previous(in, v1.ConditionRoutesReady)
	}
	routes := in.Snapshot.Application.Spec.Routes
	if len(routes) == 0 {
		return metav1.Condition{}, false
	}
	var worst metav1.Condition
	ingresses, addresses, accepted := 0, 0, 0
	for _, a := range children {
		if !a.Ref.Kind.CarriesRoutes() || a.Desired == nil {
			continue
		}
		condition, refused := routeProblem(a)
		if refused && rankRoute(condition) > rankRoute(worst) {
			condition.Message = fmt.Sprintf("%s %s: %s", a.Ref.Kind, a.Ref.Name, condition.Message)
			worst = condition
		}
		switch live := a.Live.(type) {
		case *networkingv1.Ingress:
			if len(live.Status.LoadBalancer.Ingress) > 0 {
				addresses++
			}
		case *gatewayv1.HTTPRoute:
			accepted++
		}
		if a.Ref.Kind == child.Ingress {
			ingresses++
		}
	}
	switch {
	case worst.Reason != "":
		return worst, true
	case ingresses+accepted == 0:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1.ReasonRoutesNotApplied, Message: "No Ingress was made for the routes."}, true
	case accepted == 0:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonApplied, Message: ingressMessage(routes, ingresses, addresses)}, true
	case ingresses == 0:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonAccepted, Message: fmt.Sprintf("The HTTPRoutes for %s are accepted.", hosts(routes))}, true
	default:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonAccepted, Message: fmt.Sprintf("The routes for %s are applied: %d by Ingress, %d by HTTPRoute, accepted.", hosts(routes), ingresses, accepted)}, true
	}
}

func ingressMessage(routes []v1.Route, applied, addresses int) string {
	if addresses < applied {
		return fmt.Sprintf("The Ingresses for %s are applied; %d of %d have no load-balancer address yet.", hosts(routes), applied-addresses, applied)
	}
	return fmt.Sprintf("The Ingresses for %s are applied and have a load-balancer address.", hosts(routes))
}

// routeProblem tells what keeps one child from leading requests to the application, if anything does.
func routeProblem(a assessment) (metav1.Condition, bool) {
	switch {
	case a.Action == plan.Absent:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1.ReasonAPINotServed, Message: a.message}, true
	case a.state != v1.ResourceSynced:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1.ReasonRoutesNotApplied, Message: a.message}, true
	case a.Ref.Kind == child.HTTPRoute:
		return acceptance(a)
	default:
		return metav1.Condition{}, false
	}
}

// rankRoute orders what routeProblem returns; nothing comes before everything.
func rankRoute(condition metav1.Condition) int {
	return slices.Index([]string{
		"", v1.ReasonRoutesPending, v1.ReasonRoutesNotAccepted, v1.ReasonRoutesNotApplied, v1.ReasonAPINotServed,
	}, condition.Reason)
}

// hosts names some of the hosts of the routes.
func hosts(routes []v1.Route) string {
	const most = 5
	var all []string
	for _, route := range routes {
		for _, host := range route.Hostnames {
			if !slices.Contains(all, host) {
				all = append(all, host)
			}
		}
	}
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}

// summarizeRoutes is the summary of an Application whose pods serve, and whose routes do not lead
// there. A Gateway that has not answered will; one that refuses does so until a person acts, but that
// it does not see a new Service yet passes.
func summarizeRoutes(in Input, children []assessment) (s summary, troubled bool) {
	routes, ok := routesReady(in, children)
	if !ok || routes.Status == metav1.ConditionTrue || !in.planned() {
		return summary{}, false
	}
	s = summary{reason: routes.Reason, message: routes.Message}
	switch routes.Reason {
	case v1.ReasonAPINotServed:
		s.stalled = true
	case v1.ReasonRoutesNotAccepted:
		s.stalled = !strings.Contains(routes.Message, string(gatewayv1.RouteReasonBackendNotFound))
		s.reconciling = !s.stalled
	case v1.ReasonRoutesPending:
		s.reconciling = true
	default:
		return summary{}, false // A child that could not be written is told by summarizeResults.
	}
	return s, true
}
