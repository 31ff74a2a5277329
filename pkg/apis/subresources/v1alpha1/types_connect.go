// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ApplicationExecOptions are the query parameters of the subresource exec. They mean what those of a pod's exec mean; the
// server picks the pod.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationExecOptions struct {
	metav1.TypeMeta `json:",inline"`

	// The container of the pod. Default: the one that runs the Application's image.
	// +optional
	Container string `json:"container,omitempty" protobuf:"bytes,1,opt,name=container"`

	// The command with its arguments. No shell is involved.
	// +listType=atomic
	Command []string `json:"command" protobuf:"bytes,2,rep,name=command"`

	// Redirects the standard input of the command.
	// +optional
	Stdin bool `json:"stdin,omitempty" protobuf:"varint,3,opt,name=stdin"`

	// Redirects the standard output of the command.
	// +optional
	Stdout bool `json:"stdout,omitempty" protobuf:"varint,4,opt,name=stdout"`

	// Redirects the standard error of the command.
	// +optional
	Stderr bool `json:"stderr,omitempty" protobuf:"varint,5,opt,name=stderr"`

	// Allocates a terminal for the command.
	// +optional
	TTY bool `json:"tty,omitempty" protobuf:"varint,6,opt,name=tty"`
}

// ApplicationPortForwardOptions are the query parameters of the subresource portforward.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationPortForwardOptions struct {
	metav1.TypeMeta `json:",inline"`

	// The ports of the pod. Only old protocols over websockets need them here; others name the port of each stream.
	// +optional
	// +listType=atomic
	Ports []int32 `json:"ports,omitempty" protobuf:"varint,1,rep,name=ports"`
}
