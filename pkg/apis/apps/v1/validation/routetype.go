// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// maxRouteRules is how many rules the schema of an HTTPRoute allows.
const maxRouteRules = 16

// validateRouteType checks fields that only one of the two APIs supports. The cluster decides whether a route of type
// Auto is an HTTPRoute, so it must fit both.
func validateRouteType(path *field.Path, route *v1.Route) field.ErrorList {
	errs := enum(path.Child("type"), route.Type, v1.RouteAuto, v1.RouteIngress, v1.RouteHTTPRoute)
	errs = append(errs, validateParentRefs(path.Child("parentRefs"), route.ParentRefs)...)
	if route.MayBeHTTPRoute() {
		return append(errs, validateHTTPRoute(path, route)...)
	}
	if route.Type == v1.RouteIngress && len(route.ParentRefs) > 0 {
		errs = append(errs, field.Forbidden(path.Child("parentRefs"), "an Ingress has none: leave them out, or set type: HTTPRoute"))
	}
	const instead = "needs an HTTPRoute, because an Ingress has no portable way to say it: set type: HTTPRoute and parentRefs, or use an annotation of the Ingress controller"
	for i, routePath := range route.Paths {
		if routePath.RewritePrefix != nil {
			errs = append(errs, field.Forbidden(path.Child("paths").Index(i).Child("rewritePrefix"), instead))
		}
	}
	if tls := route.TLS; tls != nil {
		if isTrue(tls.Redirect) {
			errs = append(errs, field.Forbidden(path.Child("tls", "redirect"), instead))
		}
		if tls.SecretName == "" {
			errs = append(errs, field.Required(path.Child("tls", "secretName"), "an Ingress needs the Secret with the certificate"))
		}
	}
	return errs
}

// validateHTTPRoute checks what the API server would refuse in the HTTPRoute.
func validateHTTPRoute(path *field.Path, route *v1.Route) field.ErrorList {
	var errs field.ErrorList
	if len(route.ParentRefs) == 0 {
		errs = append(errs, field.Required(path.Child("parentRefs"), "an HTTPRoute needs a Gateway: name one here, as in [{name: my-gateway}], or in spec.defaults.routes.parentRefs of the ApplicationClass"))
	}
	if len(route.Hostnames) > v1.MaxHTTPRouteHostnames {
		errs = append(errs, field.Invalid(path.Child("hostnames"), len(route.Hostnames), fmt.Sprintf("an HTTPRoute has at most %d: make two routes of it", v1.MaxHTTPRouteHostnames)))
	}
	rules, ports := 0, map[string]bool{}
	for i, routePath := range route.Paths {
		path := path.Child("paths").Index(i)
		if routePath.PathType == networkingv1.PathTypeImplementationSpecific {
			errs = append(errs, field.Invalid(path.Child("pathType"), routePath.PathType, "an HTTPRoute has Prefix and Exact only: only an IngressClass understands others"))
		}
		if routePath.RewritePrefix == nil {
			ports[routePath.Port] = true
			continue
		}
		rules++
		if message := pathProblem(*routePath.RewritePrefix, networkingv1.PathTypePrefix); message != "" || *routePath.RewritePrefix == "" {
			errs = append(errs, field.Invalid(path.Child("rewritePrefix"), *routePath.RewritePrefix, cmp.Or(message, "must start with '/'")))
		}
		if routePath.PathType == networkingv1.PathTypeExact {
			errs = append(errs, field.Forbidden(path.Child("rewritePrefix"), "needs pathType Prefix, because an Exact path has no rest that could stay"))
		}
	}
	if rules += len(ports); rules > maxRouteRules {
		errs = append(errs, field.Invalid(path.Child("paths"), rules, fmt.Sprintf("each port, and each path with rewritePrefix, is a rule of the HTTPRoute, which has at most %d: make two routes of it", maxRouteRules)))
	}
	if route.TLS != nil && isTrue(route.TLS.Redirect) {
		if route.OnHTTP() {
			errs = append(errs, field.Forbidden(path.Child("tls", "redirect"), "a route on the listener http, or on port 80, would meet its own redirect there: name another listener in parentRefs"))
		}
	}
	return errs
}

func validateParentRefs(path *field.Path, parents []v1.ParentReference) field.ErrorList {
	errs := tooMany(path, len(parents), 8)
	type key struct {
		schema.GroupKind
		namespace, name string
	}
	keyOf := func(parent v1.ParentReference) key { return key{parent.GroupKind(), parent.Namespace, parent.Name} }
	count := map[key]int{}
	for _, parent := range parents {
		count[keyOf(parent)]++
	}
	sections := map[key]names{}
	for i, parent := range parents {
		path, key := path.Index(i), keyOf(parent)
		errs = append(errs, subdomain(path.Child("name"), parent.Name)...)
		if parent.Group != nil && *parent.Group != "" {
			errs = append(errs, invalid(path.Child("group"), *parent.Group, validation.IsDNS1123Subdomain(*parent.Group))...)
		}
		if parent.Namespace != "" {
			errs = append(errs, label(path.Child("namespace"), parent.Namespace)...)
		}
		if parent.SectionName != "" {
			errs = append(errs, subdomain(path.Child("sectionName"), parent.SectionName)...)
		}
		errs = append(errs, between(path.Child("port"), parent.Port, 1, 65535)...)
		switch {
		case count[key] < 2:
		case parent.SectionName == "":
			errs = append(errs, field.Required(path.Child("sectionName"), "must name the listener, because the same parent is listed more than once"))
		default:
			if sections[key] == nil {
				sections[key] = names{}
			}
			errs = append(errs, sections[key].add(path.Child("sectionName"), parent.SectionName)...)
		}
	}
	return errs
}

// validateRedirectNames refuses a redirect whose HTTPRoute would have the name of another route's.
func validateRedirectNames(path *field.Path, routes []v1.Route) field.ErrorList {
	redirects := map[string]string{}
	for i, route := range routes {
		if route.TLS == nil || !isTrue(route.TLS.Redirect) {
			continue
		}
		redirects[v1.RedirectName(routes, i)] = route.Name
	}
	var errs field.ErrorList
	for i, route := range routes {
		if of, taken := redirects[route.Name]; taken && i > 0 {
			errs = append(errs, field.Invalid(path.Index(i).Child("name"), route.Name, fmt.Sprintf("is the name of the redirect of route %q: choose another one", of)))
		}
	}
	return errs
}
