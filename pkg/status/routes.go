// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// routesReady reports the worst problem of the children that carry routes.
func routesReady(in Input, children []assessment) (metav1.Condition, bool) {
	if !in.planned() {
		return previous(in, v1.ConditionRoutesReady)
	}
	routes := in.Snapshot.Application.Spec.Routes
	if len(routes) == 0 {
		return metav1.Condition{}, false
	}
	if worst := worstOfRoutes(children); worst.reason != "" {
		return metav1.Condition{Status: worst.status, Reason: worst.reason, Message: worst.message}, true
	}
	ingresses, addresses, accepted := 0, 0, 0
	var classes []string // of the Ingresses without an address
	for _, a := range children {
		if !carriesRoute(a) {
			continue
		}
		switch live := a.Live.(type) {
		case *networkingv1.Ingress:
			if len(live.Status.LoadBalancer.Ingress) > 0 {
				addresses++
			} else {
				classes = append(classes, ingressClass(live))
			}
		case *gatewayv1.HTTPRoute:
			accepted++
		}
		if a.Ref.Kind == child.Ingress {
			ingresses++
		}
	}
	switch {
	case ingresses+accepted == 0:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1.ReasonRoutesNotApplied, Message: "The routes have no Ingress."}, true
	case accepted == 0:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonApplied, Message: ingressMessage(routes, ingresses, addresses, classes)}, true
	case ingresses == 0:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonAccepted, Message: fmt.Sprintf("The HTTPRoutes for %s are accepted.", hosts(routes))}, true
	default:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonAccepted, Message: fmt.Sprintf("The routes for %s are applied: %d by Ingress, %d by HTTPRoute, accepted.", hosts(routes), ingresses, accepted)}, true
	}
}

// ingressMessage names the IngressClasses while an address is missing. Fairlead may not read them, and some controllers report
// no address, so whether one serves a class is for the user to see.
func ingressMessage(routes []v1.Route, applied, addresses int, classes []string) string {
	subject, are, have, them := "The Ingress for "+hosts(routes), "is", "has", "it"
	if applied > 1 {
		subject, are, have, them = "The Ingresses for "+hosts(routes), "are", "have", "them"
	}
	var lacking string
	switch missing := applied - addresses; {
	case missing <= 0:
		return fmt.Sprintf("%s %s applied and %s a load-balancer address.%s", subject, are, have, unheededParents(routes))
	case applied == 1:
		lacking = ", and has"
	case missing == 1:
		lacking = fmt.Sprintf("; 1 of %d has", applied)
	default:
		lacking = fmt.Sprintf("; %d of %d have", missing, applied)
	}
	return fmt.Sprintf("%s %s applied%s no load-balancer address yet. If clients do not reach %s, check that a controller serves %s.%s",
		subject, are, lacking, them, ingressClasses(classes, applied), unheededParents(routes))
}

// unheededParents says which routes name Gateways although an Ingress carries them: of type Auto, where the controller cannot use
// HTTPRoutes, or with a path that only an Ingress can have.
func unheededParents(routes []v1.Route) string {
	var names []string
	for _, route := range routes {
		if len(route.ParentRefs) > 0 {
			names = append(names, route.Name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" Route %s is an Ingress, so its parentRefs have no effect.", names[0])
	default:
		return fmt.Sprintf(" Routes %s are Ingresses, so their parentRefs have no effect.", text.Enumerate(names))
	}
}

// ingressClass names the class of an Ingress in words.
func ingressClass(ingress *networkingv1.Ingress) string {
	if name := ingress.Spec.IngressClassName; name != nil {
		return "IngressClass " + *name
	}
	if name := ingress.Annotations["kubernetes.io/ingress.class"]; name != "" {
		return "the class " + name + " of its annotation"
	}
	return "Ingresses without a class" // At its creation, the cluster had no default class.
}

// ingressClasses enumerates the classes. There are none while no Ingress has been seen since its creation.
func ingressClasses(classes []string, applied int) string {
	switch {
	case len(classes) == 0 && applied == 1:
		return "its IngressClass"
	case len(classes) == 0:
		return "their IngressClass"
	}
	slices.Sort(classes)
	return text.Enumerate(slices.Compact(classes))
}

// routeProblem is why a child does not route requests to the application. The zero value is none.
type routeProblem struct {
	status          metav1.ConditionStatus
	reason, message string
	// cause is what the column WHY shows; the message, if it is empty.
	cause string
	// transient: nobody has to act.
	transient bool
}

// worse reports whether one problem outranks another one.
func (p routeProblem) worse(than routeProblem) bool {
	ranks := []string{"", v1.ReasonRoutesPending, v1.ReasonRoutesNotAccepted, v1.ReasonRoutesNotApplied, v1.ReasonAPINotServed}
	rank, other := slices.Index(ranks, p.reason), slices.Index(ranks, than.reason)
	return rank > other || rank == other && than.transient && !p.transient
}

// worstOfRoutes returns the worst problem, with the name of its child.
func worstOfRoutes(children []assessment) routeProblem {
	var worst routeProblem
	for _, a := range children {
		if !carriesRoute(a) {
			continue
		}
		if problem := problemOf(a); problem.worse(worst) {
			problem.cause = cmp.Or(problem.cause, text.Capitalize(problem.message))
			problem.message = about(a.Ref, problem.message) + untilAccepted(a.Ref, children)
			worst = problem
		}
	}
	return worst
}

// untilAccepted says which Ingress still carries the route of an HTTPRoute that is not accepted.
func untilAccepted(route child.Ref, children []assessment) string {
	for _, a := range children {
		if a.state == v1.ResourcePending && a.AwaitsAcceptance && *a.After == route {
			return fmt.Sprintf(" Ingress %s stays until the HTTPRoute is accepted.", a.Ref.Name)
		}
	}
	return ""
}

// carriesRoute reports whether a rendered child carries routes. One that is no longer rendered does not count.
func carriesRoute(a assessment) bool { return a.Ref.Kind.CarriesRoutes() && a.Desired != nil }

func problemOf(a assessment) routeProblem {
	switch {
	case a.Action == plan.APIUnavailable:
		return routeProblem{status: metav1.ConditionFalse, reason: v1.ReasonAPINotServed, message: a.message}
	case a.state != v1.ResourceSynced:
		return routeProblem{status: metav1.ConditionFalse, reason: v1.ReasonRoutesNotApplied, message: a.message}
	case a.Ref.Kind == child.HTTPRoute:
		return acceptance(a)
	default:
		return routeProblem{}
	}
}

// acceptance returns the worst problem that Gateways report about an HTTPRoute.
func acceptance(a assessment) routeProblem {
	live, ok := a.Live.(*gatewayv1.HTTPRoute)
	if !ok || a.Generation != 0 && a.Generation != live.Generation {
		return routeProblem{
			status: metav1.ConditionUnknown, reason: v1.ReasonRoutesPending, message: "it was just written; waiting for the Gateway.", transient: true,
		}
	}
	switch problem := child.Acceptance(live); {
	case problem.Refused:
		return routeProblem{
			status: metav1.ConditionFalse, reason: v1.ReasonRoutesNotAccepted, message: text.Sentence(problem.Message), cause: problem.Cause, transient: problem.Transient,
		}
	case problem.Message != "":
		return routeProblem{status: metav1.ConditionUnknown, reason: v1.ReasonRoutesPending, message: problem.Message, transient: true}
	default:
		return routeProblem{}
	}
}

// hosts names some of the hosts of the routes.
func hosts(routes []v1.Route) string {
	const most = 5
	seen := map[string]bool{}
	var some []string
	for _, route := range routes {
		for _, host := range route.Hostnames {
			if !seen[host] && len(some) < most {
				some = append(some, host)
			}
			seen[host] = true
		}
	}
	if more := len(seen) - len(some); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(some, ", "), more)
	}
	return strings.Join(some, ", ")
}

// summarizeRoutes summarizes an Application whose pods serve, but whose routes do not reach them. A Gateway that has not
// reported will do so; one that refuses waits for a user, unless it has only not observed a new Service yet.
func summarizeRoutes(children []assessment) (s summary, blocked bool) {
	switch worst := worstOfRoutes(children); worst.reason {
	case v1.ReasonAPINotServed, v1.ReasonRoutesNotAccepted, v1.ReasonRoutesPending:
		return summary{stalled: !worst.transient, reconciling: worst.transient, reason: worst.reason, message: worst.message, cause: worst.cause}, true
	default:
		return summary{}, false // summarizeResults reports children that could not be written.
	}
}
