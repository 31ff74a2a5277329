// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// ConfigChangePolicy is what happens to pods when a ConfigMap or Secret that they use changes.
// +kubebuilder:validation:Enum=Rollout;Ignore
type ConfigChangePolicy string

const (
	// ConfigChangeRollout rolls the pods. This is the default.
	ConfigChangeRollout ConfigChangePolicy = "Rollout"
	// ConfigChangeIgnore does nothing.
	ConfigChangeIgnore ConfigChangePolicy = "Ignore"
)

// Rollback is which revision runs if not the spec: after a failed rollout, or because you ask for it.
type Rollback struct {
	// What happens when new pods fail, for example with a wrong image or a crash, until progressDeadlineSeconds are
	// over. Never (the default): the failed rollout stays as it is, beside the old pods. OnFailure: Fairlead runs the last
	// healthy revision again until the spec or its class asks for other pods. The spec stays as you wrote it, and the
	// condition RolledBack is True. A rollout that the cluster blocks, for example by a lack of nodes or a quota, is not
	// rolled back, nor is one that waits for a missing ConfigMap, or for a missing Secret that Fairlead may read, nor a
	// change made at 0 replicas, which Kubernetes takes as complete before its first pod starts. Without a policy, the
	// policy of the class applies.
	// +optional
	Policy RollbackPolicy `json:"policy,omitempty"`

	// The number of a revision to run instead of the spec, for as long as the field is set: the pods are as they were
	// then, and everything around them follows the spec. status.revision and the ControllerRevisions with the label
	// apps.fairlead.dev/application have the numbers. Remove the field to run the spec again.
	// +kubebuilder:validation:Minimum=1
	// +optional
	ToRevision *int64 `json:"toRevision,omitempty"`
}

// DefaultRollback is the part of Rollback that a class can decide on.
type DefaultRollback struct {
	// Whether Fairlead rolls back a rollout that exceeded its deadline because of its pods.
	// +kubebuilder:default=Never
	// +optional
	Policy RollbackPolicy `json:"policy,omitempty"`
}

// RollbackPolicy is when to roll back.
// +kubebuilder:validation:Enum=Never;OnFailure
type RollbackPolicy string

const (
	// RollbackNever leaves a failed rollout as it is. The default.
	RollbackNever RollbackPolicy = "Never"
	// RollbackOnFailure puts the last healthy revision back when the deadline has passed.
	RollbackOnFailure RollbackPolicy = "OnFailure"
)

// ReconcilePolicy is what the controller does with the children.
// +kubebuilder:validation:Enum=Enforce;Observe;Suspend
type ReconcilePolicy string

const (
	// ReconcileEnforce keeps the children as the spec says. The default.
	ReconcileEnforce ReconcilePolicy = "Enforce"
	// ReconcileObserve writes no child and reports in status how they differ.
	ReconcileObserve ReconcilePolicy = "Observe"
	// ReconcileSuspend does nothing. The condition Ready says so; the rest of the status shows the state before.
	ReconcileSuspend ReconcilePolicy = "Suspend"
)

// Withholds reports whether Fairlead changes no child.
func (p ReconcilePolicy) Withholds() bool { return p == ReconcileObserve || p == ReconcileSuspend }

// DeletionPolicy is what happens to the children of a deleted Application.
// +kubebuilder:validation:Enum=Delete;Orphan
type DeletionPolicy string

const (
	// DeletionDelete lets the garbage collector delete the children. The default.
	DeletionDelete DeletionPolicy = "Delete"
	// DeletionOrphan keeps the children. They have no ownerReference.
	DeletionOrphan DeletionPolicy = "Orphan"
)

// ServiceAccount is the identity of the pods.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.name) && self.name.size() > 0 && has(self.annotations))",message="serviceAccount.annotations belong to the ServiceAccount that Fairlead creates: remove them, or remove name",messageExpression="'serviceAccount.annotations belong to the ServiceAccount that Fairlead creates, and it does not create %s: remove annotations, or name'.format([self.name])"
type ServiceAccount struct {
	// Name of an existing ServiceAccount. If empty, Fairlead creates one with the name of the Application. A user who
	// changes the spec of an Application with a name must be allowed to impersonate that account. A controller without
	// webhooks that review this at all times refuses the name.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	Name string `json:"name,omitempty"`

	// Annotations of the created ServiceAccount, e.g. for a cloud's workload identity.
	// +mapType=granular
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Mounts a token for the Kubernetes API in the pods. Default false.
	// +optional
	AutomountToken *bool `json:"automountToken,omitempty"`
}

// AdoptionPolicy is whether an Application takes over objects that exist already.
// +kubebuilder:validation:Enum=Never;Consented
type AdoptionPolicy string

const (
	// AdoptionNever leaves existing objects alone. The default.
	AdoptionNever AdoptionPolicy = "Never"
	// AdoptionConsented takes over an object on which a user consented to that.
	AdoptionConsented AdoptionPolicy = "Consented"
)

// PodMetadata are further labels and annotations of the pods. Labels with the prefix apps.fairlead.dev/ are refused.
type PodMetadata struct {
	// Further labels of the pods. Fairlead makes no selector of them. app.kubernetes.io/name and
	// app.kubernetes.io/managed-by replace those that the pods have by default.
	// +mapType=granular
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Further annotations of the pods.
	// +mapType=granular
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}
