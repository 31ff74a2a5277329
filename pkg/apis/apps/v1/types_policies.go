// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// ConfigChangePolicy says what a changed ConfigMap or Secret does to the pods that use it.
// +kubebuilder:validation:Enum=Rollout;Ignore
type ConfigChangePolicy string

const (
	// ConfigChangeRollout replaces the pods. The default.
	ConfigChangeRollout ConfigChangePolicy = "Rollout"
	// ConfigChangeIgnore leaves them alone.
	ConfigChangeIgnore ConfigChangePolicy = "Ignore"
)

// Rollback says what becomes of a rollout that fails.
type Rollback struct {
	// With OnFailure, a rollout that has missed its deadline because of its pods is taken back: the
	// revision that was healthy last runs again, until what the spec says about pods changes. The spec
	// stays as it was written, and the condition RolledBack tells. Nothing is taken back that the
	// cluster is to blame for, such as a lack of nodes or a quota. With Never the failed rollout stays
	// as it is.
	// +kubebuilder:default=Never
	// +optional
	Policy RollbackPolicy `json:"policy,omitempty"`
}

// RollbackPolicy says when a revision that was healthy is put back.
// +kubebuilder:validation:Enum=Never;OnFailure
type RollbackPolicy string

const (
	// RollbackNever leaves a failed rollout as it is. The default.
	RollbackNever RollbackPolicy = "Never"
	// RollbackOnFailure puts the last healthy revision back when the deadline has passed.
	RollbackOnFailure RollbackPolicy = "OnFailure"
)

// ReconcilePolicy says what the controller may do with the children.
// +kubebuilder:validation:Enum=Enforce;Observe;Suspend
type ReconcilePolicy string

const (
	// ReconcileEnforce keeps the children as the spec says. The default.
	ReconcileEnforce ReconcilePolicy = "Enforce"
	// ReconcileObserve writes no child and reports in status how they differ.
	ReconcileObserve ReconcilePolicy = "Observe"
	// ReconcileSuspend does nothing, not even status.
	ReconcileSuspend ReconcilePolicy = "Suspend"
)

// DeletionPolicy says what becomes of the children of a deleted Application.
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
// +kubebuilder:validation:XValidation:rule="!(has(self.name) && self.name.size() > 0 && has(self.annotations))",message="serviceAccount.annotations belong to the ServiceAccount that Fairlead creates: remove them, or remove name"
type ServiceAccount struct {
	// Name of an existing ServiceAccount to use. Empty: one is created, named as the Application.
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

// PodMetadata are further labels and annotations of the pods. Labels of Fairlead
// (apps.fairlead.dev/*, app.kubernetes.io/name, app.kubernetes.io/managed-by) are refused.
type PodMetadata struct {
	// Further labels of the pods. No selector is made of them.
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
