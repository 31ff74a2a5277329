// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package child has the types that the stages of a sync share: the kinds of children, the reference to a child,
// the rendered child, and the live objects. It is pure: values in, values out.
package child

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is one kind of child.
type Kind struct {
	Group, Version, Kind string
	// Resource is the plural name in API URLs.
	Resource string
}

// The kinds of children.
var (
	ServiceAccount          = Kind{"", "v1", "ServiceAccount", "serviceaccounts"}
	ConfigMap               = Kind{"", "v1", "ConfigMap", "configmaps"}
	NetworkPolicy           = Kind{"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"}
	ControllerRevision      = Kind{"apps", "v1", "ControllerRevision", "controllerrevisions"}
	Deployment              = Kind{"apps", "v1", "Deployment", "deployments"}
	Service                 = Kind{"", "v1", "Service", "services"}
	HorizontalPodAutoscaler = Kind{"autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"}
	PodDisruptionBudget     = Kind{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"}
	Ingress                 = Kind{"networking.k8s.io", "v1", "Ingress", "ingresses"}
	HTTPRoute               = Kind{"gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes"}
	ServiceMonitor          = Kind{"monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"}
)

// Kinds returns the built-in kinds in the order of writes. What pods refer to and what protects them comes before the
// Deployment, what sends requests to them after it.
func Kinds() []Kind {
	return []Kind{
		ServiceAccount, ConfigMap, NetworkPolicy, ControllerRevision,
		Deployment,
		Service, HorizontalPodAutoscaler, PodDisruptionBudget, Ingress,
	}
}

// OptionalKinds returns the kinds that are not built into Kubernetes. Their APIs come with a
// CustomResourceDefinition, so they may be missing, and may come and go while the controller runs.
func OptionalKinds() []Kind { return []Kind{HTTPRoute, ServiceMonitor} }

// AllKinds returns Kinds followed by OptionalKinds. Never change the slice: every sync reads it several times.
func AllKinds() []Kind { return allKinds }

// KindNamed returns the kind of children that has the name, such as Deployment.
func KindNamed(name string) (kind Kind, found bool) {
	i := slices.IndexFunc(allKinds, func(kind Kind) bool { return kind.Kind == name })
	if i < 0 {
		return Kind{}, false
	}
	return allKinds[i], true
}

var allKinds = slices.Clip(append(Kinds(), OptionalKinds()...))

// Optional reports whether the kind is one of OptionalKinds.
func (k Kind) Optional() bool { return k == HTTPRoute || k == ServiceMonitor }

// CarriesRoutes reports whether objects of the kind route requests to the application.
func (k Kind) CarriesRoutes() bool { return k == Ingress || k == HTTPRoute }

// ServedIn reports whether discovery lists the kind among the resources of its group and version. A cluster may have other resources of
// them only: the CustomResourceDefinitions of the Gateway API come one by one. list is nil where the cluster has none at all.
func (k Kind) ServedIn(list *metav1.APIResourceList) bool {
	return list != nil && slices.ContainsFunc(list.APIResources, func(resource metav1.APIResource) bool { return resource.Name == k.Resource })
}

// GroupVersionKind returns the kind as the scheme knows it.
func (k Kind) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// GroupVersionResource returns the kind as API URLs name it.
func (k Kind) GroupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}
}

func (k Kind) String() string { return k.Kind }
