// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// ingresses renders an Ingress for each route that is not an HTTPRoute: every path under every host name. Without
// ports there is no Service, and so no Ingress. A route without a host name is omitted, since a rule without a host
// takes every host of the cluster.
func ingresses(app *v1.Application, facts Facts) ([]any, error) {
	if len(app.Spec.Ports) == 0 {
		return nil, nil
	}
	var rendered []any
	for i, route := range app.Spec.Routes {
		if len(route.Hostnames) == 0 || RouteKind(route, facts) != child.Ingress {
			continue
		}
		spec := networkingv1ac.IngressSpec()
		if route.IngressClassName != nil {
			spec.WithIngressClassName(*route.IngressClassName)
		}
		for _, hostname := range route.Hostnames {
			spec.WithRules(networkingv1ac.IngressRule().
				WithHost(hostname).
				WithHTTP(ingressPaths(app, route)))
		}
		if route.TLS != nil {
			tls := networkingv1ac.IngressTLS().WithHosts(route.Hostnames...)
			if route.TLS.SecretName != "" { // Without one, the Ingress controller uses its own certificate.
				tls.WithSecretName(route.TLS.SecretName)
			}
			spec.WithTLS(tls)
		}
		name := RouteName(app, i)
		ingress := networkingv1ac.Ingress(name, app.Namespace).WithSpec(spec)
		ingress.ObjectMetaApplyConfiguration = objectMeta(app, name, route.Annotations)
		rendered = append(rendered, ingress)
	}
	return rendered, nil
}

func ingressPaths(app *v1.Application, route v1.Route) *networkingv1ac.HTTPIngressRuleValueApplyConfiguration {
	paths := networkingv1ac.HTTPIngressRuleValue()
	for _, path := range RoutePaths(app, route) {
		paths.WithPaths(networkingv1ac.HTTPIngressPath().
			WithPath(path.Path).
			WithPathType(path.PathType).
			WithBackend(networkingv1ac.IngressBackend().
				WithService(networkingv1ac.IngressServiceBackend().
					WithName(app.Name).
					WithPort(ingressBackendPort(app, path.Port)))))
	}
	return paths
}

// ingressBackendPort refers to the port of the Service by name. If the spec names that port, it is by number: an Ingress
// does not allow every name that a Service does.
func ingressBackendPort(app *v1.Application, name string) *networkingv1ac.ServiceBackendPortApplyConfiguration {
	for _, port := range declaredPorts(app, []string{name}) {
		if port.ServicePortName != nil {
			return networkingv1ac.ServiceBackendPort().WithNumber(ServicePort(port))
		}
	}
	return networkingv1ac.ServiceBackendPort().WithName(name)
}
