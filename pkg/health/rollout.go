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

// ReasonTimedOut is Kubernetes' reason of the Deployment's condition Progressing if the rollout made no progress until its deadline.
const ReasonTimedOut = "ProgressDeadlineExceeded"

// Rollout is the state of the rollout of an Application, according to the caches.
type Rollout struct {
	// Deployment is the live one; nil if there is none, or the Application does not own it.
	Deployment *appsv1.Deployment
	// Status is the status of the Deployment, or zero.
	Status appsv1.DeploymentStatus
	// Desired is the number of desired pods.
	Desired int32
	// Observed means that Status is about the present spec of the Deployment.
	Observed bool
	// Uncreated means that the rollout has no ReplicaSet, because the API server refuses it.
	Uncreated bool
	// Complete means that every desired pod has the current revision and is available, and that no other pod is left. A
	// Deployment without pods is complete, too; see Healthy.
	Complete bool
	// Paused means that a rollout waits until it is resumed.
	Paused bool
	// TimedOut means that the rollout made no progress until its deadline.
	TimedOut bool
	// LateUntil is until when pods that started only after that deadline may become ready: something in the cluster had kept them from
	// starting. It is zero if there are none, if their time is over, or if another pod is not ready either.
	LateUntil time.Time
	// Problems are the problems of the pods of the current revision, and while Paused of older ones on lost nodes, or that cannot be
	// created, the worst first; at most MaxProblems.
	Problems []v1.Problem
	// RequeueAfter is the time until a further problem may count although no object changes, because a pod takes too long to
	// start. 0 means never.
	RequeueAfter time.Duration
}

// Assess assesses the rollout.
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
		Observed:   isObserved(snapshot, deployment),
	}
	progressing := r.Condition(appsv1.DeploymentProgressing)
	if child.LacksReplicaSet(deployment) {
		r.Observed, r.Uncreated = true, true
		r.Status.UpdatedReplicas = 0 // They are those of the rollout before.
	}
	r.Complete = r.Observed && deployment.DeletionTimestamp == nil &&
		r.Status.UpdatedReplicas == r.Desired &&
		r.Status.AvailableReplicas == r.Desired &&
		r.Status.Replicas == r.Status.UpdatedReplicas
	r.Paused = isPaused(deployment, r.Desired)
	// A scaling to 0 ends the rollout, and leaves its condition.
	r.TimedOut = r.Observed && !r.Complete && r.Desired > 0 && progressing != nil && progressing.Reason == ReasonTimedOut
	if snapshot.Application.DeletionTimestamp == nil {
		r.Problems, r.LateUntil, r.RequeueAfter = r.findProblems(snapshot, now)
	}
	return r
}

// isObserved reports whether the Deployment controller has observed the spec of the Deployment. Another annotation makes another generation
// too, which changes no pod.
func isObserved(snapshot child.Snapshot, deployment *appsv1.Deployment) bool {
	since := deployment.Generation
	if snapshot.SameSpecSince > 0 {
		since = min(since, snapshot.SameSpecSince)
	}
	return deployment.Status.ObservedGeneration >= since
}

func replicas(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}

// isPaused reports whether a rollout waits until it is resumed. A paused Deployment still scales, so too few pods alone do not
// mean that. But without any pod the Deployment has no ReplicaSet of the current revision, or is about to scale it up.
func isPaused(deployment *appsv1.Deployment, desired int32) bool {
	status := &deployment.Status
	return deployment.Spec.Paused &&
		(status.Replicas > status.UpdatedReplicas || status.Replicas == 0 && desired > 0)
}

// Healthy reports whether the current revision works. Without pods nothing shows that.
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

// replicaFailure returns the Deployment's condition about pods, or a ReplicaSet, that cannot be created, or nil.
func (r Rollout) replicaFailure() *appsv1.DeploymentCondition {
	if r.Uncreated {
		return r.Condition(appsv1.DeploymentProgressing)
	}
	if failure := r.Condition(appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		return failure
	}
	return nil
}
