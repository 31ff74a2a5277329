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
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// The Application as you would apply it, with apiVersion and kind. Only its spec, labels and annotations count.
	Application runtime.RawExtension `json:"application" protobuf:"bytes,2,opt,name=application"`
}

// ApplicationRendering is what applying an Application would do: its children, and how they differ from what runs now.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationRendering struct {
	metav1.TypeMeta `json:",inline"`
	// Metadata of the live Application; only name and namespace if there is none.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// The class whose defaults apply.
	// +optional
	Class string `json:"class,omitempty" protobuf:"bytes,2,opt,name=class"`

	// The number of the revision that would run.
	// +optional
	Revision int64 `json:"revision,omitempty" protobuf:"varint,3,opt,name=revision"`

	// The effect on the pods.
	Pods RenderedPods `json:"pods" protobuf:"bytes,4,opt,name=pods"`

	// What would change, child by child.
	// +optional
	// +listType=atomic
	Changes []RenderedChange `json:"changes,omitempty" protobuf:"bytes,5,rep,name=changes"`

	// All children, each with exactly the fields that Fairlead sets. Hashes of ConfigMaps and Secrets are those of the live
	// pods.
	// +listType=atomic
	Children []runtime.RawExtension `json:"children" protobuf:"bytes,6,rep,name=children"`
}

// RenderedPods is the effect of a change on the pods.
type RenderedPods struct {
	// Every pod is replaced, because of the fields in because.
	Replaced bool `json:"replaced" protobuf:"varint,1,opt,name=replaced"`

	// The fields of the pod template that differ.
	// +optional
	// +listType=atomic
	Because []FieldChange `json:"because,omitempty" protobuf:"bytes,2,rep,name=because"`

	// The replacement waits, because rollouts are paused.
	// +optional
	Paused bool `json:"paused,omitempty" protobuf:"varint,3,opt,name=paused"`

	// The strategy of the replacement.
	// +optional
	Strategy string `json:"strategy,omitempty" protobuf:"bytes,4,opt,name=strategy"`

	// The number of pods that exist.
	// +optional
	Live int32 `json:"live,omitempty" protobuf:"varint,5,opt,name=live"`

	// The desired number before, as the spec said. If the spec left it open, or was not carried out, and after is set, it is what
	// the Deployment asks for. Absent if neither sets it.
	// +optional
	Before *int32 `json:"before,omitempty" protobuf:"varint,6,opt,name=before"`

	// The desired number after; absent if an autoscaler or a user decides. Of a new Deployment, it is the number with which that starts.
	// +optional
	After *int32 `json:"after,omitempty" protobuf:"varint,7,opt,name=after"`
}

// RenderedChange is a child that would change.
type RenderedChange struct {
	// Kind of the child.
	Kind string `json:"kind" protobuf:"bytes,1,opt,name=kind"`

	// Name of the child.
	Name string `json:"name" protobuf:"bytes,2,opt,name=name"`

	// One of Create, Update, Delete, Adopt, and Blocked. Adopt takes over an object of another owner, with the consent of a user.
	// Blocked: the name belongs to an object of another owner, which Fairlead leaves alone.
	Action string `json:"action" protobuf:"bytes,3,opt,name=action"`

	// Why, if the action is Adopt or Blocked.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason"`

	// The fields that differ.
	// +optional
	// +listType=atomic
	Fields []FieldChange `json:"fields,omitempty" protobuf:"bytes,5,rep,name=fields"`
}

// FieldChange is one field that differs.
type FieldChange struct {
	// Path of the field.
	Path string `json:"path" protobuf:"bytes,1,opt,name=path"`

	// The value before, as JSON; absent if the field is new.
	// +optional
	Before string `json:"before,omitempty" protobuf:"bytes,2,opt,name=before"`

	// The value after, as JSON; absent if the field is removed.
	// +optional
	After string `json:"after,omitempty" protobuf:"bytes,3,opt,name=after"`
}
