// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ApplicationTree is an Application with everything below it: its children, their ReplicaSets, pods and endpoints, each
// with its health.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationTree struct {
	metav1.TypeMeta `json:",inline"`
	// Metadata of the Application.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// The objects. Each follows its parent, and comes before that parent's next child. The first is the Application.
	// +listType=atomic
	Nodes []TreeNode `json:"nodes" protobuf:"bytes,2,rep,name=nodes"`
}

// TreeNode is one object of a tree.
type TreeNode struct {
	// Number of objects above it: 0 for the Application.
	Depth int32 `json:"depth" protobuf:"varint,1,opt,name=depth"`

	// API group; empty for core.
	// +optional
	Group string `json:"group,omitempty" protobuf:"bytes,2,opt,name=group"`

	// Kind of the object.
	Kind string `json:"kind" protobuf:"bytes,3,opt,name=kind"`

	// Name of the object. Its namespace is the Application's.
	Name string `json:"name" protobuf:"bytes,4,opt,name=name"`

	// UID of the object; absent if it does not exist.
	// +optional
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,5,opt,name=uid,casttype=k8s.io/apimachinery/pkg/types.UID"`

	// Whether it works.
	Health Health `json:"health" protobuf:"bytes,6,opt,name=health,casttype=Health"`

	// Why it does not, in one word.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,7,opt,name=reason"`

	// Why it does not.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,8,opt,name=message"`
}

// Health is whether an object works.
type Health string

const (
	// Healthy objects work.
	Healthy Health = "Healthy"
	// Progressing objects do not work yet, or are being deleted.
	Progressing Health = "Progressing"
	// Degraded objects do not work, and will not without a change.
	Degraded Health = "Degraded"
)
