// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/render"
)

// unserved warns of what the request begins to ask for and the cluster does not serve. It is a warning, because the API may
// be installed next.
func (h *Handler) unserved(ctx context.Context, in input, found *verdict) error {
	needsNone := len(in.new.Spec.Routes) == 0 && in.new.Spec.Monitoring == nil
	if len(found.errs) > 0 || needsNone || h.config.Unavailable == nil {
		return nil
	}
	unavailable := h.config.Unavailable()
	if len(unavailable) == 0 {
		return nil
	}
	var before []string
	if in.old != nil {
		before = unservedFields(in.old, h.resolved(ctx, in.old), unavailable)
	}
	for _, warning := range unservedFields(in.new, h.resolved(ctx, in.new), unavailable) {
		if !slices.Contains(before, warning) {
			found.warnings = append(found.warnings, warning)
		}
	}
	return nil
}

// resolved merges the Application with its class, as far as it is known.
func (h *Handler) resolved(ctx context.Context, application *v1.Application) *v1.Application {
	if h.config.Classes == nil {
		return application
	}
	rules, err := h.config.classRules(ctx, application.Namespace)
	if err != nil {
		return application
	}
	return class.Resolve(application, rules).Application
}

// unservedFields returns a warning for each field of given that needs an API that the cluster does not serve. The warnings name
// the route, not its index, so a route that moves in the list causes no new one.
func unservedFields(given, resolved *v1.Application, unavailable map[child.Kind]child.Unavailable) []string {
	var warnings []string
	if why, missing := unavailable[child.HTTPRoute]; missing && !why.ListFailed {
		facts := render.Facts{WithoutHTTPRoutes: true}
		for i, route := range given.Spec.Routes {
			merged := resolved.Spec.Routes[i] // The class changes no route's place.
			switch kind := render.RouteKind(merged, facts); {
			case kind == child.HTTPRoute:
				warnings = append(warnings, fmt.Sprintf("route %q is not served: %s", route.Name, why.Message))
			case len(route.ParentRefs) > 0 && !merged.NeedsIngress():
				becomes := "an Ingress"
				if merged.TLS != nil && merged.TLS.SecretName == "" {
					becomes = "an Ingress without a certificate, because tls.secretName is not set"
				}
				warnings = append(warnings, fmt.Sprintf("spec.routes[%s].parentRefs: they have no effect, and the route becomes %s: %s", route.Name, becomes, why.Message))
			}
		}
	}
	if why, missing := unavailable[child.ServiceMonitor]; missing && !why.ListFailed && given.Spec.Monitoring != nil {
		warnings = append(warnings, "spec.monitoring: no Prometheus scrapes the pods: "+why.Message)
	}
	return warnings
}
