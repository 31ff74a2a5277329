// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// DroppedField is a default that Merge does not take, because of another field of the spec. For those of resources, see DroppedResources.
type DroppedField struct {
	// Field is the path in the spec, and Default its value in the class.
	Field, Default string
	// Because says what of the spec excludes the default, and Instead what to do, or what applies instead.
	Because, Instead string
}

// DroppedFields returns the defaults that Merge does not take, in the order of the spec. What the spec sets itself drops none.
func DroppedFields(spec *v1.ApplicationSpec, defaults *v1.ApplicationDefaults) []DroppedField {
	if defaults == nil {
		return nil
	}
	dropped := droppedStrategy(spec.Strategy, defaults.Strategy)
	if excludesDeadline(spec, defaults) {
		dropped = append(dropped, DroppedField{
			"progressDeadlineSeconds", fmt.Sprint(*defaults.ProgressDeadlineSeconds),
			fmt.Sprintf("your minReadySeconds %d is not below it", *spec.MinReadySeconds), "set a deadline, or it is 600",
		})
	}
	if excludesGracePeriod(spec, defaults) {
		dropped = append(dropped, DroppedField{
			"terminationGracePeriodSeconds", fmt.Sprint(*defaults.TerminationGracePeriodSeconds),
			fmt.Sprintf("a lifecycle hook of yours sleeps for %d s", longestSleep(spec)), "set a period, or it is 30",
		})
	}
	return append(dropped, droppedRoutes(spec.Routes, defaults.Routes)...)
}

// droppedRoutes returns what would make HTTPRoutes of routes that say nothing of their type, and have what only an Ingress can have.
func droppedRoutes(routes []v1.Route, defaults *v1.RouteDefaults) []DroppedField {
	if defaults == nil {
		return nil
	}
	field, value := "type", string(defaults.Type)
	switch {
	case defaults.Type == v1.RouteHTTPRoute:
	case len(defaults.ParentRefs) > 0 && defaults.Type != v1.RouteIngress:
		field, value = "parentRefs", defaults.ParentRefs[0].Name
	default:
		return nil
	}
	var dropped []DroppedField
	for _, route := range routes {
		open := (route.Type == "" || route.Type == v1.RouteAuto) && len(route.ParentRefs) == 0
		path := "routes[" + route.Name + "]." + field
		switch n := len(route.Hostnames); {
		case !open:
		case route.NeedsIngress():
			dropped = append(dropped, DroppedField{path, value, "no HTTPRoute has your pathType ImplementationSpecific", "use another one, or the route becomes an Ingress"})
		case n > v1.MaxHTTPRouteHostnames:
			dropped = append(dropped, DroppedField{
				path, value, fmt.Sprintf("%d hostnames are more than the %d of an HTTPRoute", n, v1.MaxHTTPRouteHostnames), "split the route, or it becomes an Ingress",
			})
		}
	}
	return dropped
}

func droppedStrategy(own, defaults *appsv1.DeploymentStrategy) []DroppedField {
	if own == nil || own.RollingUpdate == nil || defaults == nil {
		return nil
	}
	var dropped []DroppedField
	if own.Type == "" && defaults.Type == appsv1.RecreateDeploymentStrategyType {
		dropped = append(dropped, DroppedField{"strategy.type", string(defaults.Type), "you set rollingUpdate", "remove rollingUpdate, or the pods are replaced step by step"})
	}
	if rolling := defaults.RollingUpdate; rolling != nil {
		const path, instead = "strategy.rollingUpdate.", "set it to more than 0, or it is "
		if own.RollingUpdate.MaxUnavailable == nil && v1.IsZeroIntOrPercent(rolling.MaxUnavailable) && v1.IsZeroIntOrPercent(own.RollingUpdate.MaxSurge) {
			dropped = append(dropped, DroppedField{path + "maxUnavailable", rolling.MaxUnavailable.String(), "your maxSurge is 0 too", instead + "1"})
		}
		if own.RollingUpdate.MaxSurge == nil && v1.IsZeroIntOrPercent(rolling.MaxSurge) && v1.IsZeroIntOrPercent(own.RollingUpdate.MaxUnavailable) {
			dropped = append(dropped, DroppedField{path + "maxSurge", rolling.MaxSurge.String(), "your maxUnavailable is 0 too", instead + "25%"})
		}
	}
	return dropped
}
