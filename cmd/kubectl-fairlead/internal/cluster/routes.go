// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/text"
)

// UnusedParents are the parentRefs of a route that became an Ingress, which has no parents.
type UnusedParents struct {
	Field   string // of the spec
	Ingress string
	// NeedsIngress says that the paths of the route need an Ingress. Otherwise the cluster serves no HTTPRoutes.
	NeedsIngress bool
	// LacksCertificate says that the route has TLS and names no Secret. The listeners of a Gateway have certificates; an Ingress does not.
	LacksCertificate bool
}

// UnusedParents returns the unused parentRefs of the Application's routes.
func (l *Loaded) UnusedParents() (found []UnusedParents) {
	if l.Application.Status.ObservedGeneration != l.Application.Generation {
		return nil
	}
	has := func(kind child.Kind, name string, states ...v1.ResourceState) bool {
		return slices.ContainsFunc(l.Application.Status.Resources, func(r v1.ResourceStatus) bool {
			return r.Kind == kind.Kind && r.Group == kind.Group && r.Name == name && (len(states) == 0 || slices.Contains(states, r.State))
		})
	}
	for i, route := range l.Application.Spec.Routes {
		open := route.Type == "" || route.Type == v1.RouteAuto
		name := render.RouteName(l.Application, i)
		// While an HTTPRoute replaces the Ingress, there are both.
		if open && len(route.ParentRefs) > 0 && has(child.Ingress, name, v1.ResourceSynced) && !has(child.HTTPRoute, name) {
			found = append(found, UnusedParents{fmt.Sprintf("spec.routes[%d].parentRefs", i), name, route.NeedsIngress(), route.TLS != nil && route.TLS.SecretName == ""})
		}
	}
	return found
}

// What says why the parentRefs have no effect.
func (u UnusedParents) What() string {
	why := "the cluster serves no HTTPRoutes"
	if u.NeedsIngress {
		why = "an HTTPRoute has no pathType " + string(networkingv1.PathTypeImplementationSpecific)
	}
	return fmt.Sprintf("%s has no effect: %s, so Ingress %s was made.", u.Field, why, u.Ingress)
}

// Hint says what to do.
func (u UnusedParents) Hint() string {
	remove := "If the Ingress is what you want, remove parentRefs."
	if u.LacksCertificate {
		remove = "If the Ingress is what you want, it has no certificate: set tls.secretName, and remove parentRefs."
	}
	if u.NeedsIngress {
		return "For an HTTPRoute, give each path the pathType Prefix or Exact. " + remove
	}
	return "For an HTTPRoute, ask the platform team for the Gateway API. " + remove
}

// Unaddressed are the Ingresses of an Application that no controller has given an address. Some controllers give none, so this
// proves nothing; but it is all that an Ingress shows of a class that no controller serves.
type Unaddressed []*networkingv1.Ingress

// Unaddressed returns the Application's Ingresses without an address.
func (l *Loaded) Unaddressed() Unaddressed {
	var found Unaddressed
	for _, live := range l.Children {
		ingress, ok := live.(*networkingv1.Ingress)
		if ok && child.OwnedBy(ingress, l.Application) && ingress.DeletionTimestamp == nil && len(ingress.Status.LoadBalancer.Ingress) == 0 {
			found = append(found, ingress)
		}
	}
	return found
}

// Names names the Ingresses in words.
func (u Unaddressed) Names() string {
	names := make([]string, 0, len(u))
	for _, ingress := range u {
		names = append(names, "Ingress "+ingress.Name)
	}
	return text.Enumerate(names)
}

// Note says in one line which Ingresses have no address, and what to do.
func (u Unaddressed) Note() string {
	unclassed := u.Unclassed()
	if len(unclassed) < len(u) {
		return "no address for " + u.Names() + ": " + strings.Join(u.Hints(), "; ")
	}
	return fmt.Sprintf("no address for %s, which %s: %s", u.Names(), namesNoClass(len(u)), setClass(len(u)))
}

// Hints say what to check, and what to set.
func (u Unaddressed) Hints() []string {
	var classes, hints []string
	for _, ingress := range u {
		if class := classOf(ingress); class != "" && !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	if len(classes) > 0 {
		hints = append(hints, "if clients do not reach the application, check that a controller serves "+text.Enumerate(classes))
	}
	if unclassed := u.Unclassed(); len(unclassed) > 0 {
		hints = append(hints, fmt.Sprintf("%s %s: %s", unclassed.Names(), namesNoClass(len(unclassed)), setClass(len(unclassed))))
	}
	return hints
}

// Unclassed are the Ingresses without a class. The API server stores the default class when it creates an Ingress, so the cluster had none
// then, and a later one does not count for them.
func (u Unaddressed) Unclassed() (unclassed Unaddressed) {
	for _, ingress := range u {
		if classOf(ingress) == "" {
			unclassed = append(unclassed, ingress)
		}
	}
	return unclassed
}

// annotationClass is the old way to name a class. Controllers still honour it.
const annotationClass = "kubernetes.io/ingress.class"

// classOf names the class of an Ingress in words. It is "" if there is none.
func classOf(ingress *networkingv1.Ingress) string {
	if name := ingress.Spec.IngressClassName; name != nil {
		return "IngressClass " + *name
	}
	if name := ingress.Annotations[annotationClass]; name != "" {
		return "the class " + name + " of its annotation"
	}
	return ""
}

func namesNoClass(ingresses int) string {
	if ingresses == 1 {
		return "names no IngressClass"
	}
	return "name no IngressClass"
}

func setClass(ingresses int) string {
	if ingresses == 1 {
		return "set ingressClassName in the route"
	}
	return "set ingressClassName in the routes"
}
