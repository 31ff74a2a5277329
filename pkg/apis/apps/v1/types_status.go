// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ApplicationStatus is what the controller saw last.
type ApplicationStatus struct {
	// The generation of the spec that this status is about. -1: not seen yet.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready is the summary. Reconciling and Stalled are there only while they hold. Available and
	// Progressing come from the Deployment; the others only where they apply.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Pods that should run: by replicas, or by the autoscaler.
	// +optional
	DesiredReplicas int32 `json:"desiredReplicas,omitempty"`

	// Pods that exist.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// Pods of the current revision.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`

	// Pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// Pods that have been ready for minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas,omitempty"`

	// Label selector of the pods, for autoscalers and kubectl.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Where the application is reached from outside of the cluster: what its Ingresses and HTTPRoutes serve,
	// though the spec may ask for something else. In the order of the routes; the first ones, as many as
	// fit.
	// +listType=atomic
	// +optional
	URLs []string `json:"urls,omitempty"`

	// The image that runs, once the rollout is complete.
	// +optional
	Image string `json:"image,omitempty"`

	// The revisions of the pods, by their numbers. Each is a ControllerRevision with the label
	// apps.fairlead.dev/application.
	// +optional
	Revision *RevisionStatus `json:"revision,omitempty"`

	// The class with which the Application was synced, and what it takes from it.
	// +optional
	Class *AppliedClass `json:"class,omitempty"`

	// The children, each with its state: all that the spec asks for, and of those still to be deleted as many as
	// fit.
	// +listType=map
	// +listMapKey=group
	// +listMapKey=kind
	// +listMapKey=name
	// +optional
	Resources []ResourceStatus `json:"resources,omitempty"`

	// What keeps pods of the current revision from serving, the worst first; none while the
	// Application is ready. Atomic: the list is computed as a whole, and its order tells.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Problems []Problem `json:"problems,omitempty"`
}

// RevisionStatus are the numbers of revisions.
type RevisionStatus struct {
	// The revision that the pods are brought to.
	// +optional
	Current int64 `json:"current,omitempty"`

	// The newest revision of which all pods have been available. None: there was no such one yet.
	// +optional
	LastHealthy int64 `json:"lastHealthy,omitempty"`

	// The revision that the spec asks for and that was taken back. None: the spec is what runs.
	// +optional
	RolledBackFrom int64 `json:"rolledBackFrom,omitempty"`
}

// Problem is one thing that is wrong with pods of the current revision, found on any number of them.
type Problem struct {
	// What is wrong, in one word: ConfigError, ImagePullFailed, InitFailed, StartFailed, CrashLooping,
	// QuotaExceeded, PolicyDenied, ReplicaFailure, Unschedulable, VolumeNotMounting, NodeLost,
	// ReadinessFailing, PodRejected, Evicted or ProgressDeadlineExceeded.
	Reason string `json:"reason"`

	// What the kubelet, the registry or the scheduler says about it, shortened.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Message string `json:"message,omitempty"`

	// The container, if it is about one.
	// +optional
	Container string `json:"container,omitempty"`

	// How many pods have the problem. None: pods that cannot even be made, or the rollout as a whole.
	// +optional
	Pods int32 `json:"pods,omitempty"`
}

// ResourceState is how a child stands.
// +kubebuilder:validation:Enum=Synced;Pending;Conflict;Failed;Drifted
type ResourceState string

const (
	// ResourceSynced is as the spec says.
	ResourceSynced ResourceState = "Synced"
	// ResourcePending is being deleted, or waits for another child.
	ResourcePending ResourceState = "Pending"
	// ResourceConflict is an object of this name that the Application does not own; it is not touched.
	ResourceConflict ResourceState = "Conflict"
	// ResourceFailed could not be written; the message says why.
	ResourceFailed ResourceState = "Failed"
	// ResourceDrifted differs from the spec and is left so, by reconcilePolicy Observe.
	ResourceDrifted ResourceState = "Drifted"
)

// ResourceStatus is one child.
type ResourceStatus struct {
	// API group; empty for core.
	Group string `json:"group"`

	// Kind of the child.
	Kind string `json:"kind"`

	// Name of the child. Its namespace is the Application's.
	Name string `json:"name"`

	// UID of the object that the Application owns under this name. By it a child is recognised
	// again whose ownerReference somebody removed.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// How it stands.
	State ResourceState `json:"state"`

	// Why, if it is not Synced.
	// +optional
	Message string `json:"message,omitempty"`
}
