// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Reasons of the Deployment's condition Progressing. Kubernetes has no constants for them outside of its
// controller.
const (
	// ReasonTimedOut: the rollout made no progress until its deadline.
	ReasonTimedOut = "ProgressDeadlineExceeded"
	// ReasonRolledOut: a rollout was complete. It stays until the next one begins.
	ReasonRolledOut = "NewReplicaSetAvailable"
)

// Rollout is how far the Deployment of an Application has come, as the caches show it.
type Rollout struct {
	// Deployment is the live one; nil if there is none, or it is not the Application's.
	Deployment *appsv1.Deployment
	// Status is that of the Deployment, or zero.
	Status appsv1.DeploymentStatus
	// Desired is the number of pods that the Deployment asks for.
	Desired int32
	// Observed: Status is about the Deployment as it is now.
	Observed bool
	// Complete: every desired pod is of the current revision and available, and no other pod is left. A
	// Deployment of no pods is complete as well; see Healthy.
	Complete bool
	// Paused: a rollout waits for the end of a pause.
	Paused bool
	// TimedOut: the rollout made no progress until its deadline.
	TimedOut bool
	// Problems are those of the pods of the current revision, the worst first; at most as many as the status lists.
	Problems []v1.Problem
	// RequeueAfter is when a further problem may have to be reported although no object changes, because a pod
	// has been starting for too long by then. 0 is never.
	RequeueAfter time.Duration
}

// Assess finds out how the rollout stands.
func Assess(snapshot child.Snapshot, now time.Time) Rollout {
	deployment := child.Get[*appsv1.Deployment](snapshot, child.Deployment, snapshot.Application.Name)
	ref := child.Ref{Kind: child.Deployment, Namespace: snapshot.Application.Namespace, Name: snapshot.Application.Name}
	if deployment == nil || !child.OwnedBy(deployment, snapshot.Application) && !child.IsOrphaned(snapshot.Application, ref, deployment) {
		return Rollout{}
	}
	r := Rollout{
		Deployment: deployment,
		Status:     deployment.Status,
		Desired:    replicas(deployment),
		Observed:   deployment.Status.ObservedGeneration >= deployment.Generation,
	}
	r.Complete = r.Observed && deployment.DeletionTimestamp == nil &&
		r.Status.UpdatedReplicas == r.Desired &&
		r.Status.AvailableReplicas == r.Desired &&
		r.Status.Replicas == r.Status.UpdatedReplicas
	r.Paused = isPaused(deployment, r.Desired)
	progressing := r.Condition(appsv1.DeploymentProgressing)
	r.TimedOut = r.Observed && !r.Complete && progressing != nil && progressing.Reason == ReasonTimedOut
	if snapshot.Application.DeletionTimestamp == nil {
		r.Problems, r.RequeueAfter = r.findProblems(snapshot, now)
	}
	return r
}

func replicas(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}

// isPaused reports whether a rollout waits for the end of a pause. A paused Deployment still scales, so too few
// pods alone do not mean it. But without any pod the Deployment has no ReplicaSet of the current revision, or
// scales it up in a moment.
func isPaused(deployment *appsv1.Deployment, desired int32) bool {
	status := &deployment.Status
	return deployment.Spec.Paused &&
		(status.Replicas > status.UpdatedReplicas || status.Replicas == 0 && desired > 0)
}

// Healthy reports whether the current revision has proven itself. Without pods nothing is proven.
func (r Rollout) Healthy() bool { return r.Complete && r.Desired > 0 }

// Condition returns the Deployment's condition of the type, or nil.
func (r Rollout) Condition(kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range r.Status.Conditions {
		if r.Status.Conditions[i].Type == kind {
			return &r.Status.Conditions[i]
		}
	}
	return nil
}

// replicaFailure is the Deployment's condition about pods that cannot be created, or nil.
func (r Rollout) replicaFailure() *appsv1.DeploymentCondition {
	if failure := r.Condition(appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		return failure
	}
	return nil
}
