// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/render"
)

// servedUnseen returns an error for each host name that an HTTPRoute of another namespace may serve unseen: the cluster
// serves HTTPRoutes, but the controller cannot list them now. A live route may serve a host name that no spec asks for, so
// such a host name is not known to be free. This concerns only Ingresses, because the controller writes no HTTPRoute
// meanwhile. The missing keys do not include what the Application already serves by an Ingress.
func (g *grants) servedUnseen(application *v1.Application, missing []v1.RouteKey, classes []*v1.ApplicationClass) field.ErrorList {
	unavailable, is := g.informers.Unavailable()[child.HTTPRoute]
	if !is || !unavailable.MayExist || !g.informers.ListedElsewhere(child.HTTPRoute, application.Namespace) {
		return nil
	}
	merged := application
	if of := g.classOf(application, classes); of != nil {
		merged, _ = class.Merge(application, of.Spec.Defaults)
	}
	var errs field.ErrorList
	for i, route := range merged.Spec.Routes {
		if render.RouteKind(route, render.Facts{WithoutHTTPRoutes: !unavailable.ListFailed}) != child.Ingress {
			continue
		}
		for j, hostname := range route.Hostnames {
			host := v1.CanonicalHost(hostname)
			if slices.ContainsFunc(missing, func(key v1.RouteKey) bool { return key.Host == host }) {
				errs = append(errs, field.Invalid(field.NewPath("spec", "routes").Index(i).Child("hostnames").Index(j), hostname,
					"the controller cannot list HTTPRoutes, and one of another namespace may serve it: wait until it can, or remove the host name"))
			}
		}
	}
	return errs
}
