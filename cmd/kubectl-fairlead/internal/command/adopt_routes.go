// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/pkg/child"
)

// routesTo names the Ingresses and HTTPRoutes of the namespace that lead to one of the Services. A user without permission to list them, or a
// cluster without HTTPRoutes, does without.
func (a *adopting) routesTo(ctx context.Context, services []string) (names []string, err error) {
	if len(services) == 0 {
		return nil, nil
	}
	ingresses, err := a.clients.Kube.NetworkingV1().Ingresses(a.namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		ingresses = &networkingv1.IngressList{}
	} else if err != nil {
		return nil, fmt.Errorf("find out which Ingresses lead to the pods: %w", err)
	}
	for i := range ingresses.Items {
		if ingressLeadsTo(&ingresses.Items[i].Spec, services) {
			names = append(names, child.Ingress.Kind+" "+ingresses.Items[i].Name)
		}
	}
	routes, err := a.clients.Dynamic.Resource(child.HTTPRoute.GroupVersionResource()).Namespace(a.namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return names, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find out which HTTPRoutes lead to the pods: %w", err)
	}
	for i := range routes.Items {
		if httpRouteLeadsTo(&routes.Items[i], services) {
			names = append(names, child.HTTPRoute.Kind+" "+routes.Items[i].GetName())
		}
	}
	return names, nil
}

func ingressLeadsTo(spec *networkingv1.IngressSpec, services []string) bool {
	leads := func(backend *networkingv1.IngressBackend) bool {
		return backend != nil && backend.Service != nil && slices.Contains(services, backend.Service.Name)
	}
	return leads(spec.DefaultBackend) || slices.ContainsFunc(spec.Rules, func(rule networkingv1.IngressRule) bool {
		return rule.HTTP != nil && slices.ContainsFunc(rule.HTTP.Paths, func(path networkingv1.HTTPIngressPath) bool { return leads(&path.Backend) })
	})
}

// httpRouteLeadsTo reads an HTTPRoute without its types. A backend that names no kind is a Service, and one without a namespace is of the
// namespace of the HTTPRoute.
func httpRouteLeadsTo(route *unstructured.Unstructured, services []string) bool {
	rules, _, _ := unstructured.NestedSlice(route.Object, "spec", "rules")
	return slices.ContainsFunc(rules, func(rule any) bool {
		fields, _ := rule.(map[string]any)
		backends, _, _ := unstructured.NestedSlice(fields, "backendRefs")
		return slices.ContainsFunc(backends, func(backend any) bool {
			ref, _ := backend.(map[string]any)
			field := func(name string) string { value, _, _ := unstructured.NestedString(ref, name); return value }
			return field("group") == "" && cmp.Or(field("kind"), child.Service.Kind) == child.Service.Kind &&
				cmp.Or(field("namespace"), route.GetNamespace()) == route.GetNamespace() && slices.Contains(services, field("name"))
		})
	})
}

// routesStay says that the routes go on to serve, and where to read how the Application can have its own; nothing if there is none.
func routesStay(names []string) string {
	const guide = " in spec.routes of the Application instead, without a gap, see docs/guides/migrate.md."
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " leads to these pods, stays yours and goes on to serve. To have it" + guide
	default:
		return strings.Join(names, ", ") + " lead to these pods, stay yours and go on to serve. To have them" + guide
	}
}
