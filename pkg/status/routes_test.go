// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

const routeGeneration = 4 // As that of ownedMeta.

// newRoute is an HTTPRoute for some parents, of which no Gateway has said anything.
func newRoute(name string, parents ...gatewayv1.ParentReference) *gatewayv1.HTTPRoute {
	route := &gatewayv1.HTTPRoute{ObjectMeta: ownedMeta(name, types.UID(name+"-route-uid"))}
	route.Spec.ParentRefs = parents
	return route
}

// reported adds what a controller says about a parent.
func reported(route *gatewayv1.HTTPRoute, parent gatewayv1.ParentReference, conditions ...metav1.Condition) *gatewayv1.HTTPRoute {
	route.Status.Parents = append(route.Status.Parents, gatewayv1.RouteParentStatus{ParentRef: parent, ControllerName: "example.com/gateway", Conditions: conditions})
	return route
}

func verdict(kind gatewayv1.RouteConditionType, status metav1.ConditionStatus, reason gatewayv1.RouteConditionReason, generation int64) metav1.Condition {
	return metav1.Condition{Type: string(kind), Status: status, Reason: string(reason), Message: "so it is", ObservedGeneration: generation}
}

var (
	infra     = gatewayv1.ParentReference{Name: "shared", Namespace: new(gatewayv1.Namespace("infra"))}
	internal  = gatewayv1.ParentReference{Name: "internal"}
	secure    = gatewayv1.ParentReference{Name: "internal", SectionName: new(gatewayv1.SectionName("https")), Port: new(int32(443))}
	accepted  = verdict(gatewayv1.RouteConditionAccepted, "True", gatewayv1.RouteReasonAccepted, routeGeneration)
	resolved  = verdict(gatewayv1.RouteConditionResolvedRefs, "True", gatewayv1.RouteReasonResolvedRefs, routeGeneration)
	refused   = verdict(gatewayv1.RouteConditionAccepted, "False", gatewayv1.RouteReasonNotAllowedByListeners, routeGeneration)
	noBackend = verdict(gatewayv1.RouteConditionResolvedRefs, "False", gatewayv1.RouteReasonBackendNotFound, routeGeneration)
)

// What the Gateways say about one HTTPRoute, for each parent that it asks for.
func TestAcceptance(t *testing.T) {
	const unanswered = " has not reported on it yet. Check that it exists and that its controller runs."
	wait := func(message string) *metav1.Condition {
		return &metav1.Condition{Status: "Unknown", Reason: v1.ReasonRoutesPending, Message: "HTTPRoute web: " + message}
	}
	deny := func(message string) *metav1.Condition {
		return &metav1.Condition{Status: "False", Reason: v1.ReasonRoutesNotAccepted, Message: "HTTPRoute web: " + message}
	}
	yes := &metav1.Condition{Status: "True", Reason: v1.ReasonAccepted, Message: "The HTTPRoutes for web.example.com are accepted."}
	full := infra
	full.Group, full.Kind = new(gatewayv1.Group(gatewayv1.GroupName)), new(gatewayv1.Kind("Gateway"))
	older := func(condition metav1.Condition) metav1.Condition { condition.ObservedGeneration--; return condition }
	for _, test := range []struct {
		name  string
		route *gatewayv1.HTTPRoute
		want  *metav1.Condition
	}{
		{"accepted", reported(newRoute("web", infra), infra, accepted, resolved), yes},
		{"nobody answers", newRoute("web", infra), wait("Gateway infra/shared" + unanswered)},
		{"a listener and port", newRoute("web", secure), wait("Gateway shop/internal, listener https, port 443" + unanswered)},
		{"refused", reported(newRoute("web", infra), infra, refused, resolved),
			deny("Gateway infra/shared reports Accepted=False: NotAllowedByListeners: so it is.")},
		{"a backend is missing", reported(newRoute("web", infra), infra, accepted, noBackend),
			deny("Gateway infra/shared reports ResolvedRefs=False: BackendNotFound: so it is.")},
		{"half an answer", reported(newRoute("web", infra), infra, accepted), wait("Gateway infra/shared has not reported ResolvedRefs yet.")},
		{"not known", reported(newRoute("web", infra), infra, verdict(gatewayv1.RouteConditionAccepted, "Unknown", gatewayv1.RouteReasonPending, routeGeneration), resolved),
			wait("Gateway infra/shared has not reported Accepted yet.")},

		{"accepted in an older form", reported(newRoute("web", infra), infra, older(accepted), resolved), wait("Gateway infra/shared has not reported Accepted yet.")},
		{"refused in an older form", reported(newRoute("web", infra), infra, older(refused), resolved), wait("Gateway infra/shared has not reported Accepted yet.")},
		{"resolved in an older form", reported(newRoute("web", infra), infra, accepted, older(resolved)), wait("Gateway infra/shared has not reported ResolvedRefs yet.")},

		{"all parents", reported(reported(newRoute("web", infra, internal), infra, accepted, resolved), internal, accepted, resolved), yes},
		{"one parent of two", reported(newRoute("web", infra, internal), infra, accepted, resolved), wait("Gateway shop/internal" + unanswered)},
		{"one parent refuses", reported(reported(newRoute("web", infra, internal), infra, accepted, resolved), internal, refused),
			deny("Gateway shop/internal reports Accepted=False: NotAllowedByListeners: so it is.")},
		{"a refusal counts more than silence", reported(newRoute("web", infra, internal), internal, refused),
			deny("Gateway shop/internal reports Accepted=False: NotAllowedByListeners: so it is.")},
		{"two controllers about one parent", reported(reported(newRoute("web", infra), infra, accepted, resolved), infra, accepted, noBackend),
			deny("Gateway infra/shared reports ResolvedRefs=False: BackendNotFound: so it is.")},
		{"a refusal counts more than a missing backend", reported(reported(newRoute("web", internal, infra), internal, accepted, noBackend), infra, refused),
			deny("Gateway infra/shared reports Accepted=False: NotAllowedByListeners: so it is.")},
		{"a controller that is gone has left its report", reported(reported(newRoute("web", infra), infra, older(accepted), older(resolved)), infra, accepted, resolved), yes},
		{"a controller that is gone has accepted", reported(reported(newRoute("web", infra), infra, accepted, resolved), infra, refused),
			deny("Gateway infra/shared reports Accepted=False: NotAllowedByListeners: so it is.")},

		{"a parent that it does not ask for refuses", reported(reported(newRoute("web", infra), infra, accepted, resolved), internal, refused), yes},
		{"a parent that it does not ask for accepts", reported(newRoute("web", infra), internal, accepted, resolved), wait("Gateway infra/shared" + unanswered)},
		{"another listener accepts", reported(newRoute("web", secure), internal, accepted, resolved), wait("Gateway shop/internal, listener https, port 443" + unanswered)},
		{"the parent with all that has defaults", reported(newRoute("web", infra), full, accepted, resolved), yes},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := with(func(in *Input, _ *appsv1.Deployment) {
				in.Snapshot.Application.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"web.example.com"}}}
				in.Results = append(in.Results, result(plan.Keep, child.HTTPRoute, "web", test.route))
			})
			compareCondition(t, compute(in, noon), v1.ConditionRoutesReady, test.want)
		})
	}
}

// The worst of all children that carry routes is told, and what it means for the Application.
func TestRoutesByHTTPRoute(t *testing.T) {
	yes := func(name string) *gatewayv1.HTTPRoute {
		return reported(newRoute(name, infra), infra, accepted, resolved)
	}
	keep := func(route *gatewayv1.HTTPRoute) plan.Result {
		return result(plan.Keep, child.HTTPRoute, route.Name, route)
	}
	written := keep(yes("web"))
	written.Action, written.Generation = plan.Apply, routeGeneration+1
	unseen := func(name string) plan.Result {
		r := result(plan.APIUnavailable, child.HTTPRoute, name, nil)
		r.Reason = "the cluster does not serve HTTPRoute"
		return r
	}
	waits := result(plan.WaitDependency, child.Ingress, "web", newIngress("web", true))
	waits.Desired, waits.After, waits.AwaitsAcceptance = nil, new(ref(child.HTTPRoute, "web")), true
	missing := waits // It waits for the HTTPRoute itself.
	missing.AwaitsAcceptance = false
	const stays = " Ingress web stays until the HTTPRoute is accepted."
	but := func(condition metav1.Condition) metav1.Condition { condition.Message += stays; return condition }
	const host = "HTTPRoute web: "
	pending := metav1.Condition{Status: "Unknown", Reason: v1.ReasonRoutesPending, Message: host + "it was just written; waiting for the Gateway."}
	refusal := metav1.Condition{Status: "False", Reason: v1.ReasonRoutesNotAccepted, Message: host + "Gateway infra/shared reports Accepted=False: NotAllowedByListeners: so it is."}
	failure := metav1.Condition{Status: "False", Reason: v1.ReasonRoutesNotApplied, Message: "HTTPRoute web-second: something else."}
	absence := metav1.Condition{Status: "False", Reason: v1.ReasonAPINotServed, Message: host + "The cluster does not serve HTTPRoute."}
	denied := keep(reported(newRoute("web", infra), infra, refused))
	failed := failedWith(result(plan.Create, child.HTTPRoute, "web-second", nil), errOther)
	foreign := result(plan.NotOwned, child.HTTPRoute, "web", nil)
	foreign.Reason = "HTTPRoute web exists and does not belong to the Application"
	for _, test := range []struct {
		name    string
		results []plan.Result
		want    metav1.Condition
		// stalled and reconciling are the reasons of these conditions; "" means that they are not there.
		stalled, reconciling string
	}{
		{name: "accepted", results: []plan.Result{keep(yes("web"))},
			want: metav1.Condition{Status: "True", Reason: v1.ReasonAccepted, Message: "The HTTPRoutes for web.example.com are accepted."}},
		{name: "beside an Ingress", results: []plan.Result{keep(yes("web")), result(plan.Keep, child.Ingress, "web-second", newIngress("web-second", true))},
			want: metav1.Condition{Status: "True", Reason: v1.ReasonAccepted, Message: "The routes for web.example.com are applied: 1 by Ingress, 1 by HTTPRoute, accepted."}},
		{name: "created just now", results: []plan.Result{result(plan.Create, child.HTTPRoute, "web", nil)}, want: pending, reconciling: v1.ReasonRoutesPending},
		{name: "changed just now: what was said is of before", results: []plan.Result{written}, want: pending, reconciling: v1.ReasonRoutesPending},
		{name: "refused", results: []plan.Result{denied}, want: refusal, stalled: v1.ReasonRoutesNotAccepted},
		{name: "a missing backend passes", results: []plan.Result{keep(reported(newRoute("web", infra), infra, accepted, noBackend))},
			want:        metav1.Condition{Status: "False", Reason: v1.ReasonRoutesNotAccepted, Message: host + "Gateway infra/shared reports ResolvedRefs=False: BackendNotFound: so it is."},
			reconciling: v1.ReasonRoutesNotAccepted},
		{name: "a refusal is worse than a missing backend",
			results: []plan.Result{keep(reported(newRoute("web-second", infra), infra, accepted, noBackend)), denied}, want: refusal, stalled: v1.ReasonRoutesNotAccepted},
		{name: "not served", results: []plan.Result{unseen("web")}, want: absence, stalled: v1.ReasonAPINotServed},
		{name: "not served, and the old Ingress stays", results: []plan.Result{unseen("web"), missing}, want: absence, stalled: v1.ReasonAPINotServed},
		{name: "refused, and the old Ingress stays", results: []plan.Result{denied, waits}, want: but(refusal), stalled: v1.ReasonRoutesNotAccepted},
		{name: "accepted, and the old Ingress stays for a moment", results: []plan.Result{keep(yes("web")), waits},
			want: metav1.Condition{Status: "True", Reason: v1.ReasonAccepted, Message: "The HTTPRoutes for web.example.com are accepted."}},

		{name: "refused is worse than pending", results: []plan.Result{result(plan.Create, child.HTTPRoute, "web-third", nil), denied}, want: refusal, stalled: v1.ReasonRoutesNotAccepted},
		{name: "not applied is worse than refused", results: []plan.Result{denied, failed}, want: failure, reconciling: v1.ReasonApplyFailed},
		{name: "another owner's", results: []plan.Result{foreign}, want: metav1.Condition{Status: "False", Reason: v1.ReasonRoutesNotApplied,
			Message: "HTTPRoute web exists and does not belong to the Application."}, stalled: v1.ReasonConflict},
		{name: "not served is worse than not applied", results: []plan.Result{failed, unseen("web")}, want: absence, reconciling: v1.ReasonApplyFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := with(func(in *Input, _ *appsv1.Deployment) {
				in.Snapshot.Application.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"web.example.com"}}}
				in.Results = append(in.Results, test.results...)
			})
			got := compute(in, noon)
			compareCondition(t, got, v1.ConditionRoutesReady, &test.want)
			for kind, want := range map[string]string{v1.ConditionStalled: test.stalled, v1.ConditionReconciling: test.reconciling} {
				reason := ""
				for _, condition := range got.Conditions {
					if condition.Type == kind && condition.Status == metav1.ConditionTrue {
						reason = condition.Reason
					}
				}
				if reason != want {
					t.Errorf("the reason of %s is %q, want %q", kind, reason, want)
				}
			}
		})
	}
}
