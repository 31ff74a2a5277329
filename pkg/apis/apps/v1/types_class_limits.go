// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SecurityProfile is a level of the Pod Security Standards.
// +kubebuilder:validation:Enum=Restricted;Baseline;Privileged
type SecurityProfile string

const (
	// SecurityProfileRestricted allows what needs no privilege at all.
	SecurityProfileRestricted SecurityProfile = "Restricted"
	// SecurityProfileBaseline refuses what is known to lead to more privileges.
	SecurityProfileBaseline SecurityProfile = "Baseline"
	// SecurityProfilePrivileged refuses nothing.
	SecurityProfilePrivileged SecurityProfile = "Privileged"
)

// ApplicationLimits is what the Applications of a class may ask for. An omitted list allows everything, unless its
// field says otherwise; an empty list allows nothing.
type ApplicationLimits struct {
	// Pod Security level that all containers must meet, instead of the controller's
	// --security-profile.
	// +optional
	SecurityProfile SecurityProfile `json:"securityProfile,omitempty"`

	// Where images may come from: a registry, or a part of one, e.g. ghcr.io/acme. It allows every
	// repository below it. An image without a registry is one of docker.io. Left out: all images; an
	// empty list: none.
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`
	// +optional
	AllowedRegistries []string `json:"allowedRegistries,omitzero"`

	// Host names that routes may have. *.example.com allows every name below example.com, at any
	// depth, and not example.com itself. Left out: all names; an empty list: none.
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	AllowedHostnames []string `json:"allowedHostnames,omitzero"`

	// Host names that Applications of different namespaces may have at once, each with other paths;
	// patterns as in allowedHostnames. The class of each of them must list the host name. Left out:
	// none, so that a host name belongs to one namespace, with all names that a wildcard covers. A
	// route with such a host name must not have paths of type ImplementationSpecific, nor annotations
	// that make paths regular expressions: they would reach into the paths of others.
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	SharedHostnames []string `json:"sharedHostnames,omitzero"`

	// Annotations that Services, routes, ServiceAccounts and pods may have. A * at the end allows every
	// annotation that begins so, but for snippets of a controller's configuration, and for annotations
	// that have host names, such as ExternalDNS's: those are refused unless they are named in full, also
	// if the list is left out. Left out: all others; an empty list: none.
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=317
	// +kubebuilder:validation:items:Pattern=`^[a-zA-Z0-9][-a-zA-Z0-9_./]*\*?$`
	// +optional
	AllowedAnnotations []string `json:"allowedAnnotations,omitzero"`

	// What the parentRefs of routes may name, beside Gateways: kinds, each with its group behind a dot
	// where it has one, such as Service, or XListenerSet.gateway.networking.x-k8s.io. A route that is
	// attached to a Service takes requests of other pods to that Service. Left out: Gateways only.
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=317
	// +kubebuilder:validation:items:Pattern=`^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	AllowedParentKinds []string `json:"allowedParentKinds,omitzero"`

	// Types that Services may have, beside ClusterIP. Left out: all types; an empty list: ClusterIP only.
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:Enum=ClusterIP;NodePort;LoadBalancer
	// +optional
	AllowedServiceTypes []corev1.ServiceType `json:"allowedServiceTypes,omitzero"`

	// The highest value of replicas and of autoscaling.maxReplicas. An Application that sets neither counts as 1, so 0
	// refuses it. It limits the spec of an Application. A spec that sets neither leaves the number to the clients
	// that scale the Deployment, and the class does not limit those.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`

	// Whether each container must have a limit for cpu and for memory. A limit of 0 is none. The
	// application container may have them from the defaults of the class.
	// +kubebuilder:default=false
	// +optional
	RequireResourceLimits *bool `json:"requireResourceLimits,omitempty"`

	// Whether an Application may set serviceAccount.name, so that its pods run as a ServiceAccount that it does not
	// own. The default is false, also in limits that are empty; a class without limits allows it. The user who sets it
	// must still be allowed to use that account.
	// +kubebuilder:default=false
	// +optional
	AllowForeignServiceAccounts *bool `json:"allowForeignServiceAccounts,omitempty"`
}

// ApplicationClassStatus is the observed state of a class. Its counts are batched for a few seconds.
type ApplicationClassStatus struct {
	// The generation of the spec that the counts are about; -1 before the controller has observed it.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready: the class is valid, Fairlead refuses none of its Applications because of it, and no sync of them with this
	// generation is due; updated says how many have it. Default: present while the class has the annotation; True if it
	// is the default.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Applications that name the class, or that name none while it is the default of their namespace.
	// +optional
	Applications int32 `json:"applications"`

	// Of them, those whose children were synced with this generation of the class. Left out are those that are Stalled,
	// and those whose users hold changes back: under Observe, suspended before the sync, pinned by
	// rollback.toRevision, or paused while their pods wait.
	// +optional
	Updated int32 `json:"updated"`

	// Of them, those that are Stalled for any reason.
	// +optional
	Failing int32 `json:"failing"`
}

// RefusedClass is a class whose rules an Application breaks.
type RefusedClass struct {
	// Name of the class.
	Name string `json:"name"`

	// Generation of the class.
	Generation int64 `json:"generation"`
}

// AppliedClass is the class that an Application was synced with.
type AppliedClass struct {
	// Name of the class.
	Name string `json:"name"`

	// Generation of the class.
	Generation int64 `json:"generation"`

	// The defaults that the Application takes from the class, because its spec omits these fields. For routes: the
	// defaults that at least one route takes.
	// +optional
	Defaults *ApplicationDefaults `json:"defaults,omitempty"`

	// True where the Application takes more than fits here. Then defaults has the first Gateway of routes
	// at most; the class has everything.
	// +optional
	DefaultsOmitted bool `json:"defaultsOmitted,omitempty"`
}
