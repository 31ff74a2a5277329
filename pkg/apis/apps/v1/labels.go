// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Labels and annotations of the children.
const (
	// LabelApplication, with the Application's name as value, is on every child and pod. It alone
	// is the selector of the pods.
	LabelApplication = "apps.fairlead.dev/application"
	// LabelName is Kubernetes' recommended label for the name of an application.
	LabelName = "app.kubernetes.io/name"
	// LabelManagedBy, with ManagedBy as value, is on every child; the informers select by it.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "fairlead"

	// AnnotationRenderedHash is on every child: the hash of its last rendering. Another hash means that the spec
	// changed, even if only a field was removed.
	AnnotationRenderedHash = "apps.fairlead.dev/rendered-hash"
	// AnnotationOwnerUID is on every child but ControllerRevisions, with deletionPolicy Orphan, in place of the
	// ownerReference: the UID of the Application. It counts only where an object has no controller. On
	// what an Application left behind it has no meaning, since no other Application ever has that UID.
	AnnotationOwnerUID = "apps.fairlead.dev/owner-uid"
	// AnnotationCreatedFieldSet is on a Deployment as long as its fields may belong to the POST that created it: the hash of
	// that field set. An apply with the same field set removes none of them.
	AnnotationCreatedFieldSet = "apps.fairlead.dev/created-field-set"
	// AnnotationConfigHash is on the pod template: a hash of spec.config.data, so that a change
	// rolls the pods.
	AnnotationConfigHash = "apps.fairlead.dev/config-hash"
	// AnnotationConfigMapsHash and AnnotationSecretsHash are on the pod template: a hash of the
	// content of all ConfigMaps, or Secrets, that the pods use, so that a change rolls the pods. That
	// of Secrets is keyed, since more users may read a Deployment than a Secret.
	AnnotationConfigMapsHash = "apps.fairlead.dev/configmaps-hash"
	AnnotationSecretsHash    = "apps.fairlead.dev/secrets-hash"
	// AnnotationConfigMapsVersions and AnnotationSecretsVersions are on the Deployment: a digest of
	// the objects' versions from which the hash was computed. While it matches, no content is read.
	AnnotationConfigMapsVersions = "apps.fairlead.dev/configmaps-versions"
	AnnotationSecretsVersions    = "apps.fairlead.dev/secrets-versions"
	// AnnotationRevision is on the Deployment: the name of the ControllerRevision that it rolls out. So what
	// Kubernetes reports about the rollout is about this revision and no other.
	AnnotationRevision = "apps.fairlead.dev/revision"
	// AnnotationFormerNumbers is on a ControllerRevision that got a higher number: the earlier ones that the status named then
	// among those that were healthy, separated by commas. So a sync knows it although the status is written later.
	AnnotationFormerNumbers = "apps.fairlead.dev/former-numbers"
	// AnnotationRolledBackBefore is on a ControllerRevision: the names of the revisions that had been rolled back when it got its number,
	// separated by commas. Kubernetes keeps only the last rollback to a revision, on its ReplicaSet.
	AnnotationRolledBackBefore = "apps.fairlead.dev/rolled-back-before"
	// AnnotationServicePorts is on a ControllerRevision: what the Service says about the ports of its pods, as JSON, by the name of each port.
	// It is no part of the data, which is immutable, because a change of the Service starts no revision.
	AnnotationServicePorts = "apps.fairlead.dev/service-ports"
	// AnnotationRolledBackFrom is on the Deployment while it runs an earlier revision: the name of the
	// ControllerRevision that failed. AnnotationRolledBackBecause has the reason. One write changes them and the pod
	// template, so that no rollback happens twice.
	AnnotationRolledBackFrom    = "apps.fairlead.dev/rolled-back-from"
	AnnotationRolledBackBecause = "apps.fairlead.dev/rolled-back-because"
	// AnnotationReplicasManaged is on the Deployment while Fairlead sets spec.replicas. Fairlead must hand the field over
	// before it may leave it out.
	AnnotationReplicasManaged = "apps.fairlead.dev/replicas-managed"

	// AnnotationAdoptableBy is on an object that a user allows an Application to adopt: the UID of that Application. The
	// adoption removes it.
	AnnotationAdoptableBy = "apps.fairlead.dev/adoptable-by"

	// AnnotationRestartedAt is on pods that kubectl rollout restart replaced: when that was. In spec.podMetadata it restarts
	// the pods of an Application.
	AnnotationRestartedAt = "kubectl.kubernetes.io/restartedAt"

	// AnnotationExcess is only in caches, on the rest of an Application that is too large: it has the reason. A stored
	// Application with it counts as too large as well.
	AnnotationExcess = "apps.fairlead.dev/excess"

	// FinalizerOrphan is on an Application with deletionPolicy Orphan, until its children are
	// released.
	FinalizerOrphan = "apps.fairlead.dev/orphan"

	// ReservedPrefix is the prefix of labels and annotations that only Fairlead sets.
	ReservedPrefix = "apps.fairlead.dev/"
)

// The names of the API as ownerReferences and URLs carry them.
const (
	// ApplicationKind is the kind of an Application.
	ApplicationKind = "Application"
	// ApplicationResource is its plural in URLs.
	ApplicationResource = "applications"
)
