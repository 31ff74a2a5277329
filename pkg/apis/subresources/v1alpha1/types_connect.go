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
	Container string `json:"container,omitempty"`

	// The command with its arguments. No shell is involved.
	// +listType=atomic
	Command []string `json:"command"`

	// Redirects the standard input of the command.
	// +optional
	Stdin bool `json:"stdin,omitempty"`

	// Redirects the standard output of the command.
	// +optional
	Stdout bool `json:"stdout,omitempty"`

	// Redirects the standard error of the command.
	// +optional
	Stderr bool `json:"stderr,omitempty"`

	// Allocates a terminal for the command.
	// +optional
	TTY bool `json:"tty,omitempty"`
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
	Ports []int32 `json:"ports,omitempty"`
}
