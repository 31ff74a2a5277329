// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RenderOptions asks what applying an Application would do. Nothing is stored.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type RenderOptions struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The Application as you would apply it, with apiVersion and kind. Only its spec, labels and annotations count.
	Application runtime.RawExtension `json:"application"`
}

// ApplicationRendering is what applying an Application would do: its children, and how they differ from what runs now.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationRendering struct {
	metav1.TypeMeta `json:",inline"`
	// Metadata of the live Application; only name and namespace if there is none.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The class whose defaults apply.
	// +optional
	Class string `json:"class,omitempty"`

	// The number of the revision that would run.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// The effect on the pods.
	Pods RenderedPods `json:"pods"`

	// What would change, child by child.
	// +optional
	// +listType=atomic
	Changes []RenderedChange `json:"changes,omitempty"`

	// All children, each with exactly the fields that Fairlead sets. Hashes of ConfigMaps and Secrets are those of the live
	// pods.
	// +listType=atomic
	Children []runtime.RawExtension `json:"children"`
}

// RenderedPods is the effect of a change on the pods.
type RenderedPods struct {
	// Every pod is replaced, because of the fields in because.
	Replaced bool `json:"replaced"`

	// The fields of the pod template that differ.
	// +optional
	// +listType=atomic
	Because []FieldChange `json:"because,omitempty"`

	// The replacement waits, because rollouts are paused.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// The strategy of the replacement.
	// +optional
	Strategy string `json:"strategy,omitempty"`

	// The number of pods that exist.
	// +optional
	Live int32 `json:"live,omitempty"`

	// The desired number before; absent if an autoscaler or a user decides.
	// +optional
	Before *int32 `json:"before,omitempty"`

	// The desired number after; absent if an autoscaler or a user decides.
	// +optional
	After *int32 `json:"after,omitempty"`
}

// RenderedChange is a child that would change.
type RenderedChange struct {
	// Kind of the child.
	Kind string `json:"kind"`

	// Name of the child.
	Name string `json:"name"`

	// One of Create, Update, Delete, and Blocked: the name belongs to an object of another owner.
	Action string `json:"action"`

	// Why, if the action is Blocked.
	// +optional
	Reason string `json:"reason,omitempty"`

	// The fields that differ.
	// +optional
	// +listType=atomic
	Fields []FieldChange `json:"fields,omitempty"`
}

// FieldChange is one field that differs.
type FieldChange struct {
	// Path of the field.
	Path string `json:"path"`

	// The value before, as JSON; absent if the field is new.
	// +optional
	Before string `json:"before,omitempty"`

	// The value after, as JSON; absent if the field is removed.
	// +optional
	After string `json:"after,omitempty"`
}
