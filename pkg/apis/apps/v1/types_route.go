// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// RouteType is the API that carries a route.
// +kubebuilder:validation:Enum=Auto;Ingress;HTTPRoute
type RouteType string

const (
	// RouteAuto makes an HTTPRoute where there are parentRefs and the cluster serves the API, else an
	// Ingress. The default.
	RouteAuto RouteType = "Auto"
	// RouteIngress makes a networking.k8s.io/v1 Ingress.
	RouteIngress RouteType = "Ingress"
	// RouteHTTPRoute makes a gateway.networking.k8s.io/v1 HTTPRoute.
	RouteHTTPRoute RouteType = "HTTPRoute"
)

// Route lets clients outside of the cluster reach the application under its hostnames.
type Route struct {
	// Name of the route, unique in the Application.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// The API that carries the route: Ingress or HTTPRoute. Auto, the default: the one that the class names; else
	// HTTPRoute, if there are parentRefs and the cluster serves it, or the route has a rewritePrefix
	// or tls.redirect, which an Ingress cannot have; else Ingress. When it changes, the new object is
	// there first, and the old one stays for ten seconds more, so that no request fails if the
	// Ingress or Gateway controller serves the new one by then. An Ingress also stays until the
	// Gateways of all parentRefs have accepted the HTTPRoute, unless the route has lost one of its host names or
	// paths.
	// +optional
	Type RouteType `json:"type,omitempty"`

	// Host names, optionally with a wildcard as first label (*.example.com); stored in lower case. At least
	// one, because a route without a host would take every host of the cluster. An HTTPRoute has at
	// most 16.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Hostnames []string `json:"hostnames"`

	// Paths under each host name. Default: one, the prefix / to the primary port.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Paths []RoutePath `json:"paths,omitempty"`

	// Serves the host names by HTTPS.
	// +optional
	TLS *RouteTLS `json:"tls,omitempty"`

	// IngressClass of an Ingress. Default: the cluster's default class.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	IngressClassName *string `json:"ingressClassName,omitempty"`

	// The Gateways of an HTTPRoute, or listeners of them; other kinds if the class allows them. An
	// HTTPRoute needs at least one, of its own or from the class; an Ingress has none.
	// An apply replaces the list as a whole, because no field of a reference is always there to be its key.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +optional
	ParentRefs []ParentReference `json:"parentRefs,omitempty"`

	// Annotations of the Ingress or HTTPRoute, for what its controller offers beyond the API.
	// +mapType=granular
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ParentReference names what an HTTPRoute attaches to, as the Gateway API's type of this name does.
// Whether it may attach there is decided by the listener, whatever the namespace.
type ParentReference struct { // A type of its own, so that this API does not change with a release of the other one.
	// API group of the parent. Default: gateway.networking.k8s.io.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	Group *string `json:"group,omitempty"`

	// Kind of the parent. Default: Gateway.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`
	// +optional
	Kind string `json:"kind,omitempty"`

	// Namespace of the parent. Default: this one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Name of the parent.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Name of the listener. Default: all listeners that allow the route; with tls.redirect, the one
	// that is called https.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	SectionName string `json:"sectionName,omitempty"`

	// Port of the listeners; with sectionName, that listener must be on it. Not every Gateway
	// controller supports it.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// RoutePath sends the requests for a path to a port.
type RoutePath struct {
	// The path; it starts with a slash, which the webhook adds where it is missing. Default /.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	Path string `json:"path,omitempty"`

	// How the path is matched: Prefix by path elements, Exact as a whole, or as the IngressClass defines
	// (ImplementationSpecific), which an HTTPRoute cannot have. Default Prefix.
	// +kubebuilder:validation:Enum=Prefix;Exact;ImplementationSpecific
	// +optional
	PathType networkingv1.PathType `json:"pathType,omitempty"`

	// Name of the port, from ports. Default: the primary port.
	// +kubebuilder:validation:MaxLength=15
	// +optional
	Port string `json:"port,omitempty"`

	// Replaces the prefix in requests to the application: with path /shop and rewritePrefix /, a
	// request for /shop/cart arrives as /cart. Only for pathType Prefix, and only in an HTTPRoute,
	// since an Ingress has no portable field for it.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	RewritePrefix *string `json:"rewritePrefix,omitempty"`
}

// RouteTLS serves a route by HTTPS.
type RouteTLS struct {
	// Secret of this namespace with the certificate. An Ingress needs it; an HTTPRoute ignores it,
	// because there the listener has the certificate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// Answers requests by HTTP with a redirect to HTTPS. It is an HTTPRoute of its own, named as the
	// route's with -redirect at its end, on the listener that is called http; or, if the parentRef
	// names a port, on port 80. Only in an HTTPRoute: an Ingress has no portable way to say it.
	// +optional
	Redirect *bool `json:"redirect,omitempty"`
}
