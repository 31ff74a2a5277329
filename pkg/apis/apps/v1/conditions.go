// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of an Application.
const (
	// ConditionReady is the summary. True: every child is applied, the current revision is fully
	// available, the routes are accepted.
	ConditionReady = "Ready"
	// ConditionReconciling is there, and True, while work is under way.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is there, and True, while nothing will change until a person acts.
	ConditionStalled = "Stalled"
	// ConditionAvailable is the Deployment's: enough pods serve, of whatever revision.
	ConditionAvailable = "Available"
	// ConditionProgressing is the Deployment's: a rollout proceeds or is complete.
	ConditionProgressing = "Progressing"
	// ConditionRoutesReady is there while there are routes.
	ConditionRoutesReady = "RoutesReady"
	// ConditionAutoscalingActive is there while there is an autoscaler.
	ConditionAutoscalingActive = "AutoscalingActive"
	// ConditionMonitoringReady is there while monitoring is asked for.
	ConditionMonitoringReady = "MonitoringReady"
	// ConditionPaused is there, and True, while spec.paused stops rollouts.
	ConditionPaused = "Paused"
	// ConditionConfigFollowed is there, and False, while ConfigMaps or Secrets that the pods use can
	// change without replacing the pods, although configChangePolicy asks for it.
	ConditionConfigFollowed = "ConfigFollowed"
	// ConditionRolledBack is there, and True, while a former revision runs instead of what the spec asks
	// for, and False while a failed rollout is not taken back although spec.rollback asks for it.
	ConditionRolledBack = "RolledBack"
	// ConditionDrifted is there, and True, while children differ and reconcilePolicy is Observe.
	ConditionDrifted = "Drifted"
)

// Reasons of the conditions. Those of Events are declared below.
const (
	// ReasonReady: the current revision serves.
	ReasonReady = "Ready"
	// ReasonScaledToZero: ready, with no pod, because none is asked for.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonApplying: children are being written, or wait for a write of others.
	ReasonApplying = "Applying"
	// ReasonRollingOut: the Deployment replaces or starts pods.
	ReasonRollingOut = "RollingOut"
	// ReasonPodsUnavailable: the rollout was complete, but pods do not serve now.
	ReasonPodsUnavailable = "PodsUnavailable"
	// ReasonProgressDeadlineExceeded: no progress for spec.progressDeadlineSeconds.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonPaused: spec.paused holds a rollout back.
	ReasonPaused = "Paused"
	// ReasonDeleting: the Application is being deleted, and something holds that up, such as a finalizer.
	ReasonDeleting = "Deleting"
	// ReasonInvalid: the spec breaks a rule; the last good children are kept.
	ReasonInvalid = "Invalid"
	// ReasonRouteConflict: a host name and path belong to another Application; the last good children
	// are kept.
	ReasonRouteConflict = "RouteConflict"
	// ReasonRevisionMissing: the ControllerRevision that was put back is gone; the last good children
	// are kept.
	ReasonRevisionMissing = "RevisionMissing"
	// ReasonConflict: an object that is not the Application's has the name of a child.
	ReasonConflict = "Conflict"
	// ReasonQuotaExceeded: a ResourceQuota refuses a child, or the Deployment's pods.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonPolicyDenied: an admission policy or webhook refuses a child, or the Deployment's pods.
	ReasonPolicyDenied = "PolicyDenied"
	// ReasonPermissionDenied: the controller's RBAC lacks a permission.
	ReasonPermissionDenied = "PermissionDenied"
	// ReasonChildRefused: the API server calls a child invalid.
	ReasonChildRefused = "ChildRefused"
	// ReasonContended: somebody else keeps changing what Fairlead sets on a child.
	ReasonContended = "Contended"
	// ReasonApplyFailed: a write failed for another reason; it is retried.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonConfigMissing: a ConfigMap or Secret that the pods need, or a key of it, is not there.
	ReasonConfigMissing = "ConfigMissing"
	// ReasonConfigNotReadable: the controller may not read ConfigMaps or Secrets, or the API server does not list them.
	ReasonConfigNotReadable = "ConfigNotReadable"
	// ReasonReplicaFailure: the Deployment cannot create pods.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonDrifted: children differ and reconcilePolicy is Observe.
	ReasonDrifted = "Drifted"
	// ReasonApplied: the routes are written as their API wants them.
	ReasonApplied = "Applied"
	// ReasonRoutesNotApplied: a route could not be written.
	ReasonRoutesNotApplied = "RoutesNotApplied"
	// ReasonAccepted: the Gateways have accepted the routes and found what they refer to.
	ReasonAccepted = "Accepted"
	// ReasonRoutesNotAccepted: a Gateway refuses a route, or does not find what it refers to.
	ReasonRoutesNotAccepted = "RoutesNotAccepted"
	// ReasonRoutesPending: a Gateway has not answered for a route, or not for its present spec.
	ReasonRoutesPending = "RoutesPending"
	// ReasonMonitoringNotApplied: the ServiceMonitor could not be written.
	ReasonMonitoringNotApplied = "MonitoringNotApplied"
	// ReasonAPINotServed: the cluster does not serve the API of a child, or the controller may not use it.
	ReasonAPINotServed = "APINotServed"
	// ReasonDeploymentNotFound: there is no Deployment yet.
	ReasonDeploymentNotFound = "DeploymentNotFound"
	// ReasonAutoscalerNotFound: there is no HorizontalPodAutoscaler yet.
	ReasonAutoscalerNotFound = "AutoscalerNotFound"
	// ReasonUnknown stands in where another API gave no reason.
	ReasonUnknown = "Unknown"
)

// Reasons of the condition RolledBack. The first one is of Ready and Stalled too.
const (
	// ReasonRolledBack: the rollout failed, and the last healthy revision was put back.
	ReasonRolledBack = "RolledBack"
	// ReasonNoHealthyRevision: there is no other revision that has been healthy.
	ReasonNoHealthyRevision = "NoHealthyRevision"
	// ReasonSameSpec: the revision that was healthy last says the same about the pods.
	ReasonSameSpec = "SameSpec"
	// ReasonNotTheRevision: the pods do not serve for a reason that another revision would meet too.
	ReasonNotTheRevision = "NotTheRevision"
	// ReasonRevisionRefused: the revision that was healthy last breaks a rule or a limit of the class.
	ReasonRevisionRefused = "RevisionRefused"
)

// Reasons for which pods of the current revision do not serve: those of status.problems, beside
// QuotaExceeded, PolicyDenied, ReplicaFailure and ProgressDeadlineExceeded. The worst one is the reason of
// Ready; the reasons of Reconciling and Stalled then tell whether the rollout is under way
// (RollingOut), was complete (PodsUnavailable) or never came so far (ProgressDeadlineExceeded).
const (
	// ReasonConfigError: a container refers to a ConfigMap, Secret or key that is missing.
	ReasonConfigError = "ConfigError"
	// ReasonImagePullFailed: an image cannot be pulled; the message is the registry's.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonInitFailed: an init container ends with an error, again and again.
	ReasonInitFailed = "InitFailed"
	// ReasonStartFailed: a container cannot be created or started, e.g. its command does not exist.
	ReasonStartFailed = "StartFailed"
	// ReasonCrashLooping: a container ends again and again.
	ReasonCrashLooping = "CrashLooping"
	// ReasonUnschedulable: no node takes the pod; the message is the scheduler's.
	ReasonUnschedulable = "Unschedulable"
	// ReasonVolumeNotMounting: the node has taken the pod a minute ago or more, and its volumes are not
	// mounted yet, or its network is not there. Pods do not tell which; their Events do.
	ReasonVolumeNotMounting = "VolumeNotMounting"
	// ReasonNodeLost: the node does not answer any more.
	ReasonNodeLost = "NodeLost"
	// ReasonReadinessFailing: a container runs and is not ready, for longer than its probe's own terms.
	ReasonReadinessFailing = "ReadinessFailing"
	// ReasonPodRejected: a node has refused a pod for good. Kubernetes makes another one.
	ReasonPodRejected = "PodRejected"
	// ReasonEvicted: a node has put a pod out. Kubernetes makes another one.
	ReasonEvicted = "Evicted"
)

// Reasons of Events. A condition's reason is used where a condition changed.
const (
	// EventDriftRepaired: a child was changed or deleted by others and put back.
	EventDriftRepaired = "DriftRepaired"
	// EventChildDeleted: a child was deleted, because its feature was switched off.
	EventChildDeleted = "ChildDeleted"
	// EventConfigChanged: pods are replaced, because a ConfigMap or Secret that they use changed.
	EventConfigChanged = "ConfigChanged"
	// EventOrphaned: a child was released, or left behind by a deleted Application, by deletionPolicy Orphan.
	EventOrphaned = "Orphaned"
)
