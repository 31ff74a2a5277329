// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"cmp"
	"slices"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// annotationIngressClass is the old way to name an IngressClass.
const annotationIngressClass = "kubernetes.io/ingress.class"

// mergeRoutes fills each route of the Application of that name. What only some routes take is noted
// too.
func mergeRoutes(application string) merger {
	return func(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
		if defaults.Routes == nil {
			return
		}
		from := v1.RouteDefaults{}
		for i := range spec.Routes {
			mergeRoute(application, &spec.Routes[i], defaults.Routes, &from)
		}
		if from.IngressClassName != nil || from.TLS != nil || len(from.Annotations) > 0 {
			taken.Routes = &from
		}
	}
}

func mergeRoute(application string, route *v1.Route, defaults, taken *v1.RouteDefaults) {
	_, named := route.Annotations[annotationIngressClass]
	if route.IngressClassName == nil && !named && defaults.IngressClassName != nil {
		route.IngressClassName, taken.IngressClassName = defaults.IngressClassName, defaults.IngressClassName
	}
	if route.TLS == nil && defaults.TLS != nil {
		// A name of its own does not depend on the order of the routes, as that of the Ingress does.
		own := application + "-" + route.Name + "-tls"
		route.TLS, taken.TLS = &v1.RouteTLS{SecretName: cmp.Or(defaults.TLS.SecretName, own)}, defaults.TLS
	}
	merged, added := mergeKeys(route.Annotations, defaults.Annotations)
	route.Annotations = merged
	for key, value := range added {
		taken.Annotations = with(taken.Annotations, key, value)
	}
}

// mergeNetworkPolicy takes the policy as a whole, fitted to the ports that the Application has.
func mergeNetworkPolicy(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if spec.NetworkPolicy != nil || defaults.NetworkPolicy == nil {
		return
	}
	policy := defaults.NetworkPolicy
	policy.Ingress = slices.DeleteFunc(policy.Ingress, func(rule v1.NetworkPolicyIngressRule) bool {
		return len(rule.Ports) > 0 && !slices.ContainsFunc(rule.Ports, hasPort(spec))
	})
	for i := range policy.Ingress {
		policy.Ingress[i].Ports = slices.DeleteFunc(policy.Ingress[i].Ports, func(name string) bool { return !hasPort(spec)(name) })
	}
	spec.NetworkPolicy, taken.NetworkPolicy = policy, policy
}

func hasPort(spec *v1.ApplicationSpec) func(name string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(spec.Ports, func(port v1.ApplicationPort) bool { return port.Name == name })
	}
}
