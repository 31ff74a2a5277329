// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/text"
)

// routes explains routes that serve nothing.
func routes(f facts) []Finding {
	condition := f.condition(v1.ConditionRoutesReady)
	if condition != nil && condition.Status == metav1.ConditionTrue {
		return unaddressed(f)
	}
	if condition == nil || slices.Contains([]string{v1.ReasonRoutesNotApplied, v1.ReasonConflict}, condition.Reason) {
		return nil // A route that was not written is among the children.
	}
	next := "Check the Gateway that the message names, and its listeners: kubectl get gateways -A"
	if condition.Reason == v1.ReasonAPINotServed {
		next = "Ask the platform team for the Gateway API, or set type: Ingress in the route, without what only an HTTPRoute has, such as parentRefs."
	}
	what := "Clients outside of the cluster do not reach the application by all its routes."
	if former := f.formerIngresses(); len(former) > 0 {
		what = "Not all routes are served as the spec asks. Meanwhile their host names and paths are still in " + text.Enumerate(former) + "."
	}
	return []Finding{{
		Reason: condition.Reason, What: what,
		Evidence: []Evidence{f.conditionEvidence(condition)},
		Next:     []string{next},
	}}
}

// formerIngresses names the Ingresses that still carry the routes which became HTTPRoutes; none if one of these routes has a host name or a path
// that its Ingress lacks, or if another route is not applied: clients do not reach all of them then.
func (f facts) formerIngresses() (names []string) {
	for i, route := range f.app.Spec.Routes {
		name := render.RouteName(f.app, i)
		has := func(kind child.Kind, states ...v1.ResourceState) bool {
			return slices.ContainsFunc(f.app.Status.Resources, func(r v1.ResourceStatus) bool {
				return r.Group == kind.Group && r.Kind == kind.Kind && r.Name == name && (len(states) == 0 || slices.Contains(states, r.State))
			})
		}
		if !has(child.HTTPRoute) {
			if !has(child.Ingress, v1.ResourceSynced) {
				return nil
			}
			continue
		}
		ingress := child.Get[*networkingv1.Ingress](f.Snapshot(), child.Ingress, name)
		if ingress == nil || !child.OwnedBy(ingress, f.app) || ingress.DeletionTimestamp != nil || !carries(ingress, route.Hostnames, render.RoutePaths(f.app, route)) {
			return nil
		}
		names = append(names, child.Ingress.Kind+" "+name)
	}
	return names
}

// carries reports whether the Ingress has all paths under each host name.
func carries(ingress *networkingv1.Ingress, hostnames []string, paths []v1.RoutePath) bool {
	has := func(hostname string, path v1.RoutePath) bool {
		return slices.ContainsFunc(ingress.Spec.Rules, func(rule networkingv1.IngressRule) bool {
			return rule.Host == hostname && rule.HTTP != nil && slices.ContainsFunc(rule.HTTP.Paths, func(p networkingv1.HTTPIngressPath) bool {
				return p.Path == path.Path && p.PathType != nil && *p.PathType == path.PathType
			})
		})
	}
	for _, hostname := range hostnames {
		if slices.ContainsFunc(paths, func(path v1.RoutePath) bool { return !has(hostname, path) }) {
			return false
		}
	}
	return true
}

// unusedParents explains parentRefs without effect.
func unusedParents(f facts) (found []Finding) {
	for _, unused := range f.UnusedParents() {
		found = append(found, Finding{
			Reason: "ParentRefsUnused", What: unused.What(),
			Evidence: []Evidence{{Object: child.Ingress.Kind + "/" + unused.Ingress, Field: "spec", Message: "an Ingress has no parentRefs"}},
			Next:     []string{unused.Hint()},
		})
	}
	return found
}

// unaddressed explains Ingresses that perhaps no controller serves.
func unaddressed(f facts) []Finding {
	ingresses := f.Unaddressed()
	if len(ingresses) == 0 {
		return nil
	}
	perhaps := "Perhaps none serves the class"
	if len(ingresses.Unclassed()) == len(ingresses) {
		perhaps = "Perhaps none serves an Ingress without a class"
	}
	finding := Finding{
		Reason: "NoAddress", What: "No controller has given " + ingresses.Names() + " an address. " + perhaps + "; but some controllers never give one.",
	}
	for _, hint := range ingresses.Hints() {
		finding.Next = append(finding.Next, text.Capitalize(hint)+". To see the classes: kubectl get ingressclasses")
	}
	for _, ingress := range ingresses {
		finding.Evidence = append(finding.Evidence, Evidence{Object: child.Ingress.Kind + "/" + ingress.Name, Field: "status.loadBalancer", Message: "has no address"})
	}
	if taken, _ := f.class(); taken.Routes != nil && taken.Routes.IngressClassName != nil {
		finding.Evidence = append(finding.Evidence, f.classEvidence("routes.ingressClassName to "+*taken.Routes.IngressClassName))
	}
	return []Finding{finding}
}
