// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Facts are what rendering needs to know beyond the Application. Rendering looks nothing up, and reads no clock.
type Facts struct {
	// RouteControllerNamespaces are the namespaces whose pods a rendered NetworkPolicy admits to routed ports. Order
	// and repetition do not matter.
	RouteControllerNamespaces []string
	// MonitoringNamespaces are the namespaces whose pods it admits to the metrics port.
	MonitoringNamespaces []string
	// WithoutHTTPRoutes means that the cluster does not serve HTTPRoutes.
	WithoutHTTPRoutes bool
	// References are the hashes of the ConfigMaps and Secrets that the pods use.
	References ReferenceHashes
	// Replicas is how many pods the live Deployment asks for; 0 if there is none. See LiveReplicas.
	Replicas int32
	// Revision is the recorded revision of the pods. Without a name there is none.
	Revision Revision
}

// renderer renders all children of one kind as apply configurations, in a fixed order.
type renderer func(app *v1.Application, facts Facts) ([]any, error)

// rendererOf returns the renderer of a kind, or nil if there is none.
func rendererOf(kind child.Kind) renderer {
	switch kind {
	case child.ServiceAccount:
		return serviceAccounts
	case child.ConfigMap:
		return configMaps
	case child.NetworkPolicy:
		return networkPolicies
	case child.ControllerRevision:
		return controllerRevisions
	case child.Deployment:
		return deployments
	case child.Service:
		return services
	case child.HorizontalPodAutoscaler:
		return autoscalers
	case child.PodDisruptionBudget:
		return disruptionBudgets
	case child.Ingress:
		return ingresses
	case child.HTTPRoute:
		return httpRoutes
	case child.ServiceMonitor:
		return serviceMonitors
	default:
		return nil
	}
}

// Children renders every child that the Application needs, in the order of child.AllKinds(), and within a kind in the
// order of the spec. It is deterministic and never changes the Application.
//
// The spec should be valid: the API server may refuse children of an invalid one. The only errors are those of JSON
// encoding, which a spec that the API server stored cannot cause.
func Children(app *v1.Application, facts Facts) ([]child.Desired, error) {
	var children []child.Desired
	for _, kind := range child.AllKinds() {
		render := rendererOf(kind)
		if render == nil {
			return nil, fmt.Errorf("render %s: no renderer for this kind", kind)
		}
		applyConfigurations, err := render(app, facts)
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", kind, err)
		}
		for _, applyConfiguration := range applyConfigurations {
			desired, err := child.NewDesired(kind, applyConfiguration)
			if err != nil {
				return nil, err
			}
			children = append(children, desired)
		}
	}
	return children, nil
}
