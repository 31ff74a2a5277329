// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of an Application.
const (
	// ConditionReady is the summary. True: every child is applied, the current revision is fully
	// available, the routes are accepted.
	ConditionReady = "Ready"
	// ConditionReconciling is present and True while work is in progress.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present and True while nothing will change until a user acts.
	ConditionStalled = "Stalled"
	// ConditionAvailable mirrors the Deployment: enough pods of any revision serve.
	ConditionAvailable = "Available"
	// ConditionProgressing mirrors the Deployment: a rollout makes progress or is complete.
	ConditionProgressing = "Progressing"
	// ConditionRoutesReady is present while the spec has routes.
	ConditionRoutesReady = "RoutesReady"
	// ConditionAutoscalingActive is present while the spec has autoscaling.
	ConditionAutoscalingActive = "AutoscalingActive"
	// ConditionMonitoringReady is present while the spec has monitoring.
	ConditionMonitoringReady = "MonitoringReady"
	// ConditionPaused is present and True while spec.paused stops rollouts.
	ConditionPaused = "Paused"
	// ConditionConfigWatched is present and False while a change of a ConfigMap or Secret that the pods use would not
	// roll them, although configChangePolicy asks for it.
	ConditionConfigWatched = "ConfigWatched"
	// ConditionRolledBack is present and True while an earlier revision runs instead of the spec's, and False while a
	// failed rollout is not rolled back although spec.rollback asks for it.
	ConditionRolledBack = "RolledBack"
	// ConditionDrifted is present and True while children differ and reconcilePolicy is Observe.
	ConditionDrifted = "Drifted"
	// ConditionAdopted is present while spec.adoptionPolicy is Consented, or while the Deployment has the selector with
	// which it was adopted. True: the Application owns its Deployment and Service, and every pod carries Fairlead's label.
	ConditionAdopted = "Adopted"
)

// Reasons of the conditions. Those of Events are declared below.
const (
	// ReasonReady: the current revision serves.
	ReasonReady = "Ready"
	// ReasonScaledToZero: ready without pods, because the spec asks for none, or leaves the number open.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonApplying: Fairlead writes children, or waits for a write of another controller. Stalled too, if that is a finalizer that
	// holds a child for minutes.
	ReasonApplying = "Applying"
	// ReasonRollingOut: the Deployment starts or replaces pods.
	ReasonRollingOut = "RollingOut"
	// ReasonPodsUnavailable: the rollout was complete, but some pods no longer serve; or the Deployment was scaled to 0, which
	// disables its autoscaler.
	ReasonPodsUnavailable = "PodsUnavailable"
	// ReasonProgressDeadlineExceeded: no progress for spec.progressDeadlineSeconds.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonPaused: spec.paused stops a rollout.
	ReasonPaused = "Paused"
	// ReasonSuspended: reconcilePolicy is Suspend, so the controller does nothing, and does not know whether the Application is ready.
	ReasonSuspended = "Suspended"
	// ReasonDeleting: the Application is being deleted, and waits for something such as a finalizer.
	ReasonDeleting = "Deleting"
	// ReasonInvalid: the spec is invalid; the last good children stay.
	ReasonInvalid = "Invalid"
	// ReasonRouteConflict: another Application has the host name and path; the last good children stay.
	ReasonRouteConflict = "RouteConflict"
	// ReasonRevisionMissing: the ControllerRevision of the rollback was deleted; the last good children stay.
	ReasonRevisionMissing = "RevisionMissing"
	// ReasonConflict: a foreign object has the name of a child.
	ReasonConflict = "Conflict"
	// ReasonQuotaExceeded: a ResourceQuota refuses a child, or the Deployment's pods.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonPolicyDenied: an admission policy or webhook refuses a child, or the Deployment's pods.
	ReasonPolicyDenied = "PolicyDenied"
	// ReasonPermissionDenied: the controller lacks an RBAC permission.
	ReasonPermissionDenied = "PermissionDenied"
	// ReasonChildRefused: the API server refuses a child as invalid.
	ReasonChildRefused = "ChildRefused"
	// ReasonContended: another writer keeps reverting what Fairlead sets on a child.
	ReasonContended = "Contended"
	// ReasonApplyFailed: a write failed for another reason; the controller retries. Stalled too, if that lasts for minutes.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonConfigMissing: a ConfigMap or Secret that the pods need, or a key of it, is missing.
	ReasonConfigMissing = "ConfigMissing"
	// ReasonConfigNotReadable: the controller may not read ConfigMaps or Secrets, or the API server does not list them.
	ReasonConfigNotReadable = "ConfigNotReadable"
	// ReasonReplicaFailure: the Deployment cannot create pods.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonDrifted: children differ and reconcilePolicy is Observe.
	ReasonDrifted = "Drifted"
	// ReasonApplied: the routes, or the ServiceMonitor, are written.
	ReasonApplied = "Applied"
	// ReasonRoutesNotApplied: a route could not be written.
	ReasonRoutesNotApplied = "RoutesNotApplied"
	// ReasonAccepted: the Gateways accept the routes and resolve their references.
	ReasonAccepted = "Accepted"
	// ReasonRoutesNotAccepted: a Gateway refuses a route, or does not resolve its references.
	ReasonRoutesNotAccepted = "RoutesNotAccepted"
	// ReasonRoutesPending: a Gateway has not reported on the current spec of a route.
	ReasonRoutesPending = "RoutesPending"
	// ReasonMonitoringNotApplied: the ServiceMonitor could not be written.
	ReasonMonitoringNotApplied = "MonitoringNotApplied"
	// ReasonAPINotServed: the cluster does not serve the API of a child, or the controller may not use it.
	ReasonAPINotServed = "APINotServed"
	// ReasonDeploymentNotFound: there is no Deployment of the Application.
	ReasonDeploymentNotFound = "DeploymentNotFound"
	// ReasonAutoscalerNotFound: there is no HorizontalPodAutoscaler yet.
	ReasonAutoscalerNotFound = "AutoscalerNotFound"
	// ReasonNotObserved: the controller has not observed the Application yet.
	ReasonNotObserved = "NotObserved"
	// ReasonUnknown replaces a reason that another API left empty.
	ReasonUnknown = "Unknown"
)

// Reasons of the condition RolledBack. Ready and Stalled have the first one too.
const (
	// ReasonRolledBack: the rollout failed, and the last healthy revision runs again.
	ReasonRolledBack = "RolledBack"
	// ReasonNoHealthyRevision: no other revision has been healthy.
	ReasonNoHealthyRevision = "NoHealthyRevision"
	// ReasonSameSpec: the last healthy revision has the same pods.
	ReasonSameSpec = "SameSpec"
	// ReasonNotCausedByRevision: the cluster blocks the pods, and may block those of another revision too, or let them start too late.
	ReasonNotCausedByRevision = "NotCausedByRevision"
	// ReasonRevisionRefused: the last healthy revision is invalid, or exceeds a limit of the class.
	ReasonRevisionRefused = "RevisionRefused"
)

// Reasons of the condition Adopted. ReasonRollingOut is another one.
const (
	// ReasonAdopted: nothing is left to adopt.
	ReasonAdopted = "Adopted"
	// ReasonAwaitingConsent: an object has no consent with the UID of the Application.
	ReasonAwaitingConsent = "AwaitingConsent"
	// ReasonRefused: an object cannot be adopted as the spec is; the message names the field.
	ReasonRefused = "Refused"
	// ReasonAdopting: an object has the consent, and is about to be adopted.
	ReasonAdopting = "Adopting"
	// ReasonPodsHeld: the Deployment is adopted and paused. Its pods run as before.
	ReasonPodsHeld = "PodsHeld"
	// ReasonSelectorShared: the Service selects pods that are not the Application's.
	ReasonSelectorShared = "SelectorShared"
)

// Reasons why pods of the current revision do not serve. status.problems has these, QuotaExceeded, PolicyDenied,
// ReplicaFailure and ProgressDeadlineExceeded. The worst one is the reason of Ready; the reasons of Reconciling and
// Stalled then say whether the rollout is in progress (RollingOut), was complete (PodsUnavailable) or never completed
// (ProgressDeadlineExceeded).
const (
	// ReasonConfigError: a container refers to a ConfigMap, Secret or key that is missing, or may not run as the user of its image.
	ReasonConfigError = "ConfigError"
	// ReasonImagePullFailed: an image cannot be pulled; the message is the registry's.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonInitFailed: an init container keeps failing.
	ReasonInitFailed = "InitFailed"
	// ReasonStartFailed: a container cannot be created or started, e.g. its command does not exist.
	ReasonStartFailed = "StartFailed"
	// ReasonCrashLooping: a container keeps exiting.
	ReasonCrashLooping = "CrashLooping"
	// ReasonUnschedulable: no node fits the pod; the message is the scheduler's.
	ReasonUnschedulable = "Unschedulable"
	// ReasonVolumeNotMounting: the pod has had a node for at least a minute, but no volumes or no network yet. Its Events
	// say which.
	ReasonVolumeNotMounting = "VolumeNotMounting"
	// ReasonNodeLost: the node is unreachable.
	ReasonNodeLost = "NodeLost"
	// ReasonReadinessFailing: a container runs, but has not been ready for longer than its probe allows.
	ReasonReadinessFailing = "ReadinessFailing"
	// ReasonPodRejected: a node has rejected a pod. Kubernetes creates another one.
	ReasonPodRejected = "PodRejected"
	// ReasonEvicted: a node has evicted a pod. Kubernetes creates another one.
	ReasonEvicted = "Evicted"
)

// Reasons of Events. A condition's reason is used where a condition changed.
const (
	// EventDriftRepaired: Fairlead repaired a child that another writer changed or deleted.
	EventDriftRepaired = "DriftRepaired"
	// EventRolloutUndone: another client, such as kubectl rollout undo, put a former revision on the Deployment, and
	// Fairlead restored the one that the Application asks for.
	EventRolloutUndone = "RolloutUndone"
	// EventChildDeleted: Fairlead deleted a child that the spec no longer asks for.
	EventChildDeleted = "ChildDeleted"
	// EventConfigChanged: a ConfigMap or Secret that the pods use changed, so the pods roll.
	EventConfigChanged = "ConfigChanged"
	// EventStatusRefused: the API server refuses the status, which goes on showing an earlier state; the message is the API server's.
	EventStatusRefused = "StatusRefused"
	// EventOutlivesApplication: the deletionPolicy is Orphan now, so a child stays when the Application is deleted.
	EventOutlivesApplication = "OutlivesApplication"
	// EventOrphaned: the Application is deleted with deletionPolicy Orphan, and Fairlead left a child behind.
	EventOrphaned = "Orphaned"
)
