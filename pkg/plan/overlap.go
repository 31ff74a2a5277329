// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"time"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// routeOverlap is how long the old object of a route stays beside its successor. The controller of Ingresses or Gateways
// takes seconds to serve a new route, and may stop serving the old one at once, because it batches the changes of each kind.
const routeOverlap = 10 * time.Second

// successor is the rendered child that carries the route from now on which an obsolete one has
// carried: it has the same name, and is of the other kind. An Ingress is also the successor of the route's redirect.
func successor(ref child.Ref, rendered map[child.Ref]bool) *child.Ref {
	other := child.HTTPRoute
	switch ref.Kind {
	case child.Ingress:
	case child.HTTPRoute:
		other = child.Ingress
	default:
		return nil
	}
	next := child.Ref{Kind: other, Namespace: ref.Namespace, Name: ref.Name}
	if !rendered[next] && ref.Kind == child.HTTPRoute {
		next.Name = strings.TrimSuffix(ref.Name, v1.RedirectSuffix)
	}
	if !rendered[next] {
		return nil
	}
	return &next
}

// overlapRoutes makes the Delete of a route's old object wait until its successor serves: it has been there for a while, and
// its Gateways have accepted it. Nobody reports whether an Ingress is served.
func overlapRoutes(in Input, steps []Step) {
	for i, step := range steps {
		if step.Action == Delete && step.After != nil {
			steps[i] = step.overlap(in, steps)
		}
	}
}

func (s Step) overlap(in Input, steps []Step) Step {
	next := *s.After
	live, found := in.Snapshot.Children[next]
	if !found {
		return s.wait(next.String() + ", which takes its place, does not exist yet")
	}
	served := age(in, next, live)
	if route, is := live.(*gatewayv1.HTTPRoute); is && serves(live, s.Live) {
		since, accepted := child.AcceptedSince(route)
		if !accepted || isWritten(steps, next) {
			s.AwaitsAcceptance = true
			return s.wait(next.String() + ", which takes its place, is not accepted by its Gateways yet")
		}
		// A clock that is so far ahead says nothing.
		if accepted := in.Now.Sub(since); accepted > -routeOverlap {
			served = min(served, max(accepted, 0))
		}
	}
	if left := routeOverlap - served; left > 0 {
		s = s.wait(next.String() + " takes its place, and is not served everywhere yet")
		s.RecheckAfter = left
	}
	return s
}

// age is how long a child has existed.
func age(in Input, ref child.Ref, live child.Object) time.Duration {
	if age, known := in.Age[ref]; known {
		return age
	}
	return max(in.Now.Sub(live.GetCreationTimestamp().Time), 0)
}

// serves reports whether the new object of a route has all host names and paths of the old one. A host name that the spec has
// given up goes, whatever a Gateway says about the others.
func serves(next, old child.Object) bool {
	keys := child.RouteKeys(next)
	return !slices.ContainsFunc(child.RouteKeys(old), func(key v1.RouteKey) bool { return !slices.Contains(keys, key) })
}

// isWritten reports whether the plan changes the child, so that no Gateway has seen what it will be.
func isWritten(steps []Step, ref child.Ref) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Ref == ref && s.Action != Keep })
}
