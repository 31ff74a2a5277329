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
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The objects. Each follows its parent, and comes before that parent's next child. The first is the Application.
	// +listType=atomic
	Nodes []TreeNode `json:"nodes"`
}

// TreeNode is one object of a tree.
type TreeNode struct {
	// Number of objects above it: 0 for the Application.
	Depth int32 `json:"depth"`

	// API group; empty for core.
	// +optional
	Group string `json:"group,omitempty"`

	// Kind of the object.
	Kind string `json:"kind"`

	// Name of the object. Its namespace is the Application's.
	Name string `json:"name"`

	// UID of the object; absent if it does not exist.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// Whether it works.
	Health Health `json:"health"`

	// Why it does not, in one word.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Why it does not.
	// +optional
	Message string `json:"message,omitempty"`
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
