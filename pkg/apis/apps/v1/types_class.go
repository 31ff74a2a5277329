// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationDefaultClass, with the value "true", makes an ApplicationClass the one of Applications
// that name none. Of several such classes the one that was created last counts, as among
// StorageClasses.
const AnnotationDefaultClass = "applicationclass.apps.fairlead.dev/is-default"

// The names of the API of ApplicationClasses.
const (
	// ApplicationClassKind is the kind of an ApplicationClass.
	ApplicationClassKind = "ApplicationClass"
	// ApplicationClassResource is its plural in URLs.
	ApplicationClassResource = "applicationclasses"
)

// ApplicationClass has the platform's settings for Applications: defaults for fields that they omit, and limits that
// they must not exceed. An Application names its class in spec.className. Without a name it has the class with the
// annotation applicationclass.apps.fairlead.dev/is-default:
// "true"; of several that select its namespace, the one that was created last.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=applicationclasses,singular=applicationclass,shortName=flc,categories={fairlead},scope=Cluster
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Default",type=string,JSONPath=`.status.conditions[?(@.type=="Default")].status`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Applications",type=integer,JSONPath=`.status.applications`
// +kubebuilder:printcolumn:name="Updated",type=integer,JSONPath=`.status.updated`
// +kubebuilder:printcolumn:name="Failing",type=integer,JSONPath=`.status.failing`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Profile",type=string,priority=1,JSONPath=`.spec.limits.securityProfile`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type ApplicationClass struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The settings. A change applies to all Applications of the class, at low priority; a change of their pods rolls
	// them.
	// +optional
	Spec ApplicationClassSpec `json:"spec,omitempty"`

	// The observed state. The default of observedGeneration, -1, never equals a generation, so a new class does not
	// look up to date before the controller has observed it.
	// +kubebuilder:default:={"observedGeneration":-1}
	// +optional
	Status ApplicationClassStatus `json:"status,omitempty"`

	// DecodeErrors are the fields that were left out because they do not decode. Only the decoder
	// sets it: it is no part of the API, so no user can.
	DecodeErrors []DecodeError `json:"-"`
}

// ApplicationClassList is a list of ApplicationClasses.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationClassList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ApplicationClass `json:"items"`
}

// ApplicationClassSpec has the platform's settings for the Applications of a class.
type ApplicationClassSpec struct {
	// The namespaces whose Applications may have the class, by their labels. Left out or empty, it selects
	// all of them. An Application of another namespace that names the class is refused, or, if the
	// namespace was selected before, Stalled with its last good children kept. A default class is the
	// default in the namespaces that it selects.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// Defaults for fields that an Application omits. They are not written into its spec; its status.class shows the
	// ones that it takes.
	// +optional
	Defaults *ApplicationDefaults `json:"defaults,omitempty"`

	// What an Application may ask for, in addition to the limits of the controller. An Application that exceeds them
	// is refused, or, if it is older than the limit, Stalled while its last good children stay.
	// +optional
	Limits *ApplicationLimits `json:"limits,omitempty"`
}

// ApplicationDefaults are the fields of an Application that a class can decide on. What the
// Application says itself always wins. A default that contradicts what the Application says is
// not taken: a request above its limit, a limit below its request, a strategy that excludes its
// own, a deadline below its minReadySeconds, a grace period below its preStop sleep, a Gateway for more
// hostnames than an HTTPRoute can have, a redirect under the name of another route.
type ApplicationDefaults struct {
	// Compute resources of the application container. Merged by the name of the resource: requests
	// and limits each. A request above the Application's limit is not taken, nor a limit below its request. Claims are
	// not possible.
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="resources.claims are not possible: an Application has no pod resource claims to refer to"
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// How pods are replaced. Merged: an Application without a type takes the type; with RollingUpdate it takes the
	// fields of rollingUpdate that it omits. What its own fields exclude is not taken: the type Recreate beside its
	// rollingUpdate, or a number that would be 0 beside its 0.
	// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type in ['RollingUpdate', 'Recreate']",message="strategy.type must be RollingUpdate or Recreate",messageExpression="'strategy.type must be RollingUpdate or Recreate, not %s'.format([self.type])"
	// +kubebuilder:validation:XValidation:rule="!has(self.rollingUpdate) || !has(self.type) || self.type != 'Recreate'",message="strategy.rollingUpdate needs type RollingUpdate: change strategy.type, or remove strategy.rollingUpdate",messageExpression="'strategy.rollingUpdate has no effect with strategy.type ' + self.type + ': change the type to RollingUpdate, or remove rollingUpdate'"
	// +optional
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`

	// Seconds without progress after which a rollout counts as failed.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// What happens when a rollout exceeds its deadline. Replaced: an Application that has a
	// rollback.policy takes nothing.
	// +optional
	Rollback *DefaultRollback `json:"rollback,omitempty"`

	// How the pods spread over the cluster. Replaced: an Application that has any constraint takes
	// none. An empty labelSelector means the Application's pods.
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=16
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// Labels that a node must have. Merged by the label.
	// +mapType=granular
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Taints that the pods tolerate. Merged: the Application's come first, then those that it does
	// not have.
	// An apply replaces the list as a whole, because a toleration has no key.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// PriorityClass of the pods. While it does not exist, the API server refuses new pods, and status.problems of the
	// Applications quotes its message.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Secrets of the Application's namespace with the credentials to pull the images. Merged by
	// name: the Application's come first.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Further labels and annotations of the pods. Merged by the label, or annotation.
	// +optional
	PodMetadata *PodMetadata `json:"podMetadata,omitempty"`

	// Which peers may connect to the application, and to which it may connect. Set, even if empty or with ingress alone,
	// it allows only what it lists, in both directions, DNS, the route controllers for the ports that have routes, and,
	// with monitoring, the namespaces of Prometheus for the metrics port.
	// Replaced: an Application that has a networkPolicy, even an empty one, takes nothing. Ports in ingress rules that
	// the Application does not have are left out, and so is a rule that has none of its ports.
	// +optional
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// How the metrics are scraped. Merged: an Application with monitoring takes the fields that it
	// leaves out, but for a port that it does not have; one without takes all of it, if it has the port.
	// +optional
	Monitoring *Monitoring `json:"monitoring,omitempty"`

	// Seconds between SIGTERM (or preStop) and SIGKILL.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// Defaults for each route of an Application.
	// +optional
	Routes *RouteDefaults `json:"routes,omitempty"`
}

// RouteDefaults are the fields of a route that a class can decide on.
type RouteDefaults struct {
	// The API of routes of type Auto.
	// +optional
	Type RouteType `json:"type,omitempty"`

	// The Gateways of routes that name none and are no Ingress. Replaced: a route that has any takes
	// none. A namespace that is left out is the Application's.
	// An apply replaces the list as a whole, because no field of a reference is always there to be its key.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +optional
	ParentRefs []ParentReference `json:"parentRefs,omitempty"`

	// IngressClass of the route.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	IngressClassName *string `json:"ingressClassName,omitempty"`

	// Serves routes without a tls of their own by HTTPS.
	// +optional
	TLS *RouteTLSDefaults `json:"tls,omitempty"`

	// Annotations of the Ingress or HTTPRoute. Merged by the annotation. allowedAnnotations does not
	// limit them.
	// +mapType=granular
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// RouteTLSDefaults serve routes by HTTPS.
type RouteTLSDefaults struct {
	// Secret of the Application's namespace with the certificate. Empty: one for each route,
	// <application>-<route>-tls, which something else fills, such as cert-manager. An HTTPRoute
	// ignores it.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// Answers requests by HTTP with a redirect to HTTPS. Routes that are no HTTPRoute do not take it.
	// +optional
	Redirect *bool `json:"redirect,omitempty"`
}
