// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RestartOptions replaces the pods of an Application, as a rollout does. It sets the annotation
// kubectl.kubernetes.io/restartedAt in spec.podMetadata. While spec.paused stops rollouts, the restart waits too.
// After a rollback the answer is 409: the spec still says what failed, and a restart would try it again.
// A second restart within one second is 409 too: the annotation has whole seconds, so nothing would change.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type RestartOptions struct {
	metav1.TypeMeta `json:",inline"`
	// In a request, a resourceVersion is the version that the Application must still have, otherwise the answer is 409.
	// In the answer, it is the metadata of the changed Application.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
}

// RollbackOptions runs a former revision of an Application. It sets spec.rollback.toRevision; remove that field to run the spec
// again. If there is no such revision, the Application's condition Stalled says so.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type RollbackOptions struct {
	metav1.TypeMeta `json:",inline"`
	// In a request, a resourceVersion is the version that the Application must still have, otherwise the answer is 409.
	// In the answer, it is the metadata of the changed Application.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// The number of the revision, as in status.revision and in the ControllerRevisions of the Application.
	Revision int64 `json:"revision" protobuf:"varint,2,opt,name=revision"`
}

// PauseOptions stops the rollouts of an Application. It sets spec.paused.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type PauseOptions struct {
	metav1.TypeMeta `json:",inline"`
	// In a request, a resourceVersion is the version that the Application must still have, otherwise the answer is 409.
	// In the answer, it is the metadata of the changed Application.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
}

// ResumeOptions continues the rollouts of an Application. It removes spec.paused.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ResumeOptions struct {
	metav1.TypeMeta `json:",inline"`
	// In a request, a resourceVersion is the version that the Application must still have, otherwise the answer is 409.
	// In the answer, it is the metadata of the changed Application.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
}

// ApplicationLogOptions are the query parameters of the subresource log. They mean what those of a pod's log mean.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationLogOptions struct {
	metav1.TypeMeta `json:",inline"`

	// The container of each pod. Default: all containers.
	// +optional
	Container string `json:"container,omitempty" protobuf:"bytes,1,opt,name=container"`

	// Follows the log, including that of pods that start later.
	// +optional
	Follow bool `json:"follow,omitempty" protobuf:"varint,2,opt,name=follow"`

	// The log of the previous run of each container.
	// +optional
	Previous bool `json:"previous,omitempty" protobuf:"varint,3,opt,name=previous"`

	// Only lines of the last so many seconds.
	// +optional
	SinceSeconds *int64 `json:"sinceSeconds,omitempty" protobuf:"varint,4,opt,name=sinceSeconds"`

	// Only the last so many lines of each container.
	// +optional
	TailLines *int64 `json:"tailLines,omitempty" protobuf:"varint,5,opt,name=tailLines"`

	// Begins each line with its time.
	// +optional
	Timestamps bool `json:"timestamps,omitempty" protobuf:"varint,6,opt,name=timestamps"`
}
