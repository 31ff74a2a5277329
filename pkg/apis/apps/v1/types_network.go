// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Service is the Service in front of the ports.
type Service struct {
	// How the Service is exposed. Default ClusterIP: inside of the cluster only.
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	// +kubebuilder:default=ClusterIP
	// +default="ClusterIP"
	// +optional
	Type corev1.ServiceType `json:"type,omitempty"`

	// Annotations of the Service, e.g. for a cloud's load balancer.
	// +mapType=granular
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Whether connections of one client go to one pod. Default None: they do not.
	// +kubebuilder:validation:Enum=None;ClientIP
	// +kubebuilder:default=None
	// +default="None"
	// +optional
	SessionAffinity corev1.ServiceAffinity `json:"sessionAffinity,omitempty"`
}

// NetworkPolicy lists the peers that may connect to the application, and those to which it may connect. It denies
// everything else, except DNS and the route controllers for ports that have routes.
type NetworkPolicy struct {
	// Peers that may connect to the application. All rules together may have 256 peers and ports.
	// An apply replaces the list as a whole, because a rule has no name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.map(r, size(r.from) + (has(r.ports) ? size(r.ports) : 0)).sum() <= 256",message="the rules have more than 256 peers and ports together: use labels, or larger blocks of addresses",messageExpression="'the rules have %d peers and ports together, more than 256: use labels, or larger blocks of addresses'.format([self.map(r, size(r.from) + (has(r.ports) ? size(r.ports) : 0)).sum()])"
	// +optional
	Ingress []NetworkPolicyIngressRule `json:"ingress,omitempty"`

	// Peers to which the application may connect. All rules together may have 256 peers and ports.
	// An apply replaces the list as a whole, because a rule has no name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.map(r, size(r.to) + (has(r.ports) ? size(r.ports) : 0)).sum() <= 256",message="the rules have more than 256 peers and ports together: use labels, or larger blocks of addresses",messageExpression="'the rules have %d peers and ports together, more than 256: use labels, or larger blocks of addresses'.format([self.map(r, size(r.to) + (has(r.ports) ? size(r.ports) : 0)).sum()])"
	// +optional
	Egress []NetworkPolicyEgressRule `json:"egress,omitempty"`
}

// NetworkPolicyIngressRule lets peers connect to ports of the application.
type NetworkPolicyIngressRule struct {
	// The peers. At least one: everyone is written as ipBlock 0.0.0.0/0 and ::/0, never as
	// nothing.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="size(self) > 0",message="must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: \"::/0\"}}]"
	From []NetworkPolicyPeer `json:"from"`

	// Names from ports. Default: all ports of the Application.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=15
	// +optional
	Ports []string `json:"ports,omitempty"`
}

// NetworkPolicyEgressRule lets the application connect to ports of peers.
type NetworkPolicyEgressRule struct {
	// The peers. At least one: everyone is written as ipBlock 0.0.0.0/0 and ::/0, never as
	// nothing.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="size(self) > 0",message="must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: \"::/0\"}}]"
	To []NetworkPolicyPeer `json:"to"`

	// Ports of the peers. Default: all ports.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Ports []NetworkPolicyPort `json:"ports,omitempty"`
}

// NetworkPolicyPeer is an Application, a block of addresses, or pods by their labels.
//
// +kubebuilder:validation:XValidation:rule="[has(self.application), has(self.ipBlock), has(self.podSelector) || has(self.namespaceSelector)].filter(x, x).size() == 1",message="exactly one of application, ipBlock, or podSelector and/or namespaceSelector must be set",messageExpression="has(self.application) || has(self.ipBlock) || has(self.podSelector) || has(self.namespaceSelector) ? 'exactly one of application, ipBlock, or podSelector and/or namespaceSelector must be set: keep one of %s'.format([(has(self.application) ? ['application'] : []) + (has(self.ipBlock) ? ['ipBlock'] : []) + (has(self.podSelector) ? ['podSelector'] : []) + (has(self.namespaceSelector) ? ['namespaceSelector'] : [])]) : 'exactly one of application, ipBlock, or podSelector and/or namespaceSelector must be set, and none is'"
type NetworkPolicyPeer struct {
	// The pods of an Application.
	// +optional
	Application *ApplicationReference `json:"application,omitempty"`

	// A block of addresses outside of the cluster, verbatim.
	// +optional
	IPBlock *networkingv1.IPBlock `json:"ipBlock,omitempty"`

	// Pods by their labels; of this namespace, unless there is a namespaceSelector too.
	// +optional
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`

	// Namespaces by their labels; all of their pods, unless there is a podSelector too.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
}

// ApplicationReference names an Application.
type ApplicationReference struct {
	// Name of the Application.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Namespace of the Application. Default: this one.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// NetworkPolicyPort is a port, or a range of ports, of a peer.
//
// +kubebuilder:validation:XValidation:rule="!has(self.endPort) || (type(self.port) == int && self.endPort >= self.port)",message="endPort needs a numeric port that is not more than it",messageExpression="type(self.port) == int ? 'endPort %s is less than port %s: raise endPort, or remove it'.format([string(self.endPort), string(self.port)]) : 'endPort %s needs a port with a number, and port is %s: write its number, or remove endPort'.format([string(self.endPort), string(self.port)])"
type NetworkPolicyPort struct {
	// Number of the port, or its name in the peer's pods.
	Port intstr.IntOrString `json:"port"`

	// Last port of a range that starts at port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	EndPort *int32 `json:"endPort,omitempty"`

	// Transport protocol. Default TCP.
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	// +optional
	Protocol corev1.Protocol `json:"protocol,omitempty"`
}
