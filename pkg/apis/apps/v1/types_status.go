// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ApplicationStatus is the observed state of an Application.
type ApplicationStatus struct {
	// The generation of the spec that this status is about; -1 before the controller has observed it.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Why the Application is ready or not, in the few words that fit a column of kubectl get. The message of Ready has
	// the rest.
	// +kubebuilder:validation:MaxLength=52
	// +optional
	Summary string `json:"summary,omitempty"`

	// Ready is the summary. Reconciling and Stalled are present only while they are True. Available and Progressing
	// mirror the Deployment; the others are present only where they apply.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// The desired number of pods, from replicas or the autoscaler.
	// +optional
	DesiredReplicas int32 `json:"desiredReplicas"`

	// Pods that exist.
	// +optional
	Replicas int32 `json:"replicas"`

	// Pods of revision.current. While a newer spec waits, for example for a Secret, that is an older revision.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// Pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Pods that have been ready for minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// Label selector of the pods, for autoscalers and kubectl.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Addresses of the application outside of the cluster: what its Ingresses, and the HTTPRoutes that
	// a Gateway has accepted, serve now, in the order of the routes. A long list is truncated.
	// +listType=atomic
	// +optional
	URLs []string `json:"urls,omitempty"`

	// The running image. It changes when a rollout is complete, or when no pod with the former image is left.
	// +optional
	Image string `json:"image,omitempty"`

	// The numbers of the revisions. Each is a ControllerRevision with the label apps.fairlead.dev/application.
	// +optional
	Revision *RevisionStatus `json:"revision,omitempty"`

	// The class that is applied, and the defaults that the Application takes from it.
	// +optional
	Class *AppliedClass `json:"class,omitempty"`

	// The class that is not applied, because the Application breaks its rules; the children stay as status.class has
	// them. The message of Ready has the rule. Absent while the class is applied.
	// +optional
	RefusedClass *RefusedClass `json:"refusedClass,omitempty"`

	// The progress of the adoption of objects that existed already. Absent while there is nothing to adopt, and when all
	// pods have been replaced.
	// +optional
	Adoption *AdoptionStatus `json:"adoption,omitempty"`

	// The children with their states: all that the spec asks for, and as many of those waiting for deletion as fit.
	// +listType=map
	// +listMapKey=group
	// +listMapKey=kind
	// +listMapKey=name
	// +optional
	Resources []ResourceStatus `json:"resources,omitempty"`

	// Why pods of the current revision do not serve, the worst problem first; empty while the Application is ready.
	// While a rollout is paused, pods of older revisions on lost nodes count too. The order matters.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Problems []Problem `json:"problems,omitempty"`
}

// AdoptionStatus is the progress of an adoption.
type AdoptionStatus struct {
	// Label selector of the adopted Deployment, if it is not Fairlead's. It stays; this is only a report.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Pods that were started before the adoption and still run. The rollout replaces them.
	// +optional
	PodsToReplace int32 `json:"podsToReplace,omitempty"`

	// Paths of the pod template that the adoption would set to another value; with reconcilePolicy Observe. What it removes
	// is not listed: all that the Application does not have. A long list is truncated.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	PodFields []string `json:"podFields,omitempty"`

	// Objects that wait for the consent of a user, each as its kind and name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Awaiting []string `json:"awaiting,omitempty"`
}

// RevisionStatus are the numbers of revisions.
type RevisionStatus struct {
	// The revision that the Deployment rolls out.
	// +optional
	Current int64 `json:"current,omitempty"`

	// The newest revision whose pods have all been available; absent before the first one.
	// +optional
	LastHealthy int64 `json:"lastHealthy,omitempty"`

	// The revision of the spec, if it was rolled back; absent while the spec runs.
	// +optional
	RolledBackFrom int64 `json:"rolledBackFrom,omitempty"`

	// The other revisions whose pods have all been available, the newest first, for as long as they exist. A former
	// revision that is not listed was never healthy.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +optional
	FormerHealthy []int64 `json:"formerHealthy,omitempty"`
}

// Problem is a fault of pods of the current revision, grouped over the pods that have it.
type Problem struct {
	// The reason: ConfigError, ImagePullFailed, InitFailed, StartFailed, CrashLooping,
	// QuotaExceeded, PolicyDenied, ReplicaFailure, Unschedulable, VolumeNotMounting, NodeLost,
	// ReadinessFailing, PodRejected, Evicted or ProgressDeadlineExceeded.
	Reason string `json:"reason"`

	// The message of the kubelet, the registry or the scheduler, truncated.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Message string `json:"message,omitempty"`

	// The container, if the problem is about one.
	// +optional
	Container string `json:"container,omitempty"`

	// Number of pods with the problem; absent if it is about pods that cannot be created, or about the whole rollout.
	// +optional
	Pods int32 `json:"pods,omitempty"`
}

// ResourceState is the state of a child.
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

	// UID of the object that the Application owns under this name. It identifies a child whose ownerReference another
	// client removed.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// Its state.
	State ResourceState `json:"state"`

	// The reason, if it is not Synced; of a Synced one, what the API server does not store as Fairlead writes it.
	// +optional
	Message string `json:"message,omitempty"`
}
