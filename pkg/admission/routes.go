// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/class"
)

// Routes are the claims to host names: see validation.RouteOwners.
type Routes interface {
	HostClaims(host string) ([]v1.RouteClaim, error)
	RouteClaims(namespace string, key v1.RouteKey) ([]v1.RouteClaim, error)
}

// routes refuses a host name, or a path under one, that another Application has. One that the Application had
// before is not held against it, since the other one may be to blame. Requests race, so the sync decides.
func (h *Handler) routes(ctx context.Context, in input, found *verdict) error {
	errs, err := validation.ValidateNewRoutes(in.new, in.old, h.routeOwners(ctx))
	found.errs = append(found.errs, errs...)
	return err
}

// heldRoutes warns of a host name that another Application of the namespace gave up in its spec and still serves, because its
// reconcilePolicy keeps its routes. Otherwise it would move.
func (h *Handler) heldRoutes(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || in.new.Spec.ReconcilePolicy.Withholds() || in.old != nil && stalledByRoute(in.old) {
		return nil // keptConflict warns of one that is stalled.
	}
	errs, err := validation.HeldRoutes(in.new, in.old, h.routeOwners(ctx))
	if err == nil { // A warning is a courtesy.
		found.warnings = append(found.warnings, notApplied(in, errs)...)
	}
	return nil
}

// keptConflict warns of an update that is not carried out, because the Application is stalled by a route that another one has, and still
// asks for it. The status alone may be about a conflict that has ended, and the claims alone are those of the moment.
func (h *Handler) keptConflict(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || in.old == nil || in.new.Spec.ReconcilePolicy.Withholds() || !stalledByRoute(in.old) {
		return nil
	}
	errs, err := validation.ValidateRouteOwnership(in.new, h.routeOwners(ctx))
	if err == nil { // A warning is a courtesy.
		found.warnings = append(found.warnings, notApplied(in, errs)...)
	}
	return nil
}

func stalledByRoute(application *v1.Application) bool {
	stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled)
	return stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == v1.ReasonRouteConflict
}

func (h *Handler) routeOwners(ctx context.Context) validation.RouteOwners {
	return validation.RouteOwners{
		HostClaims:  h.config.Routes.HostClaims,
		RouteClaims: h.config.Routes.RouteClaims,
		Class:       func(a *v1.Application) *v1.ApplicationClass { return h.classOf(ctx, a) },
	}
}

// classOf returns nil where the class is not known: then nothing is shared.
func (h *Handler) classOf(ctx context.Context, application *v1.Application) *v1.ApplicationClass {
	if h.config.Classes == nil {
		return nil
	}
	rules, err := h.config.classRules(ctx, application.Namespace)
	if err != nil {
		return nil
	}
	return class.Choose(application, rules)
}
