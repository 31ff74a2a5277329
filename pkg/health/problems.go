// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
)

const (
	// MaxProblems limits the listed problems; the CRD allows no more.
	MaxProblems = 10
	// MaxProblemMessage is the limit of a problem's message, in bytes; the CRD counts characters, which are fewer.
	MaxProblemMessage = 256
)

// ReasonsBySeverity are the reasons of problems, the worst first: what a user must fix, then what the cluster may overcome,
// then what is only a consequence.
func ReasonsBySeverity() []string {
	return []string{
		v1.ReasonConfigError, v1.ReasonImagePullFailed, v1.ReasonInitFailed, v1.ReasonStartFailed, v1.ReasonCrashLooping,
		v1.ReasonPolicyDenied, v1.ReasonQuotaExceeded, v1.ReasonReplicaFailure,
		v1.ReasonUnschedulable, v1.ReasonVolumeNotMounting, v1.ReasonNodeLost, v1.ReasonReadinessFailing,
		v1.ReasonPodRejected, v1.ReasonEvicted,
		v1.ReasonProgressDeadlineExceeded,
	}
}

// explains reports whether a problem can be the reason why the Application is not ready. A failed pod has been replaced, and
// a missed deadline has another cause.
func explains(reason string) bool {
	switch reason {
	case v1.ReasonPodRejected, v1.ReasonEvicted, v1.ReasonProgressDeadlineExceeded:
		return false
	default:
		return true
	}
}

// findProblems returns why pods of the current revision do not serve, the worst problem first. requeueAfter is the time until
// a further problem may count although no object changes, or lateUntil is over; 0 means never.
//
// There are none while all pods serve: a pod that was evicted last week does not matter then. Nor are there any while
// Kubernetes has not observed the newest Deployment, because the current ReplicaSet is unknown, and pods of an older
// revision do not count. A rollout that was paused before it started a pod has no ReplicaSet yet. But a paused rollout keeps the pods of
// older revisions, so it counts those whose node is lost, and those that cannot be created: the pause does not explain why these do not
// serve.
func (r Rollout) findProblems(snapshot child.Snapshot, now time.Time) (problems []v1.Problem, lateUntil time.Time, requeueAfter time.Duration) {
	if !r.Observed || r.Deployment.DeletionTimestamp != nil || r.Complete || r.Desired == 0 {
		return nil, time.Time{}, 0
	}
	var current *child.ReplicaSet
	hasStarted := !r.Paused || r.Status.UpdatedReplicas > 0
	if hasStarted && !r.Uncreated {
		current = currentReplicaSet(snapshot, r.Deployment)
	}
	var found, early []finding
	for _, pod := range snapshot.Pods {
		if pod.Problems == nil {
			continue
		}
		findings := diagnosePod(pod)
		switch {
		case current != nil && pod.ReplicaSet == current.UID:
		case r.Paused && owns(snapshot, r.Deployment, pod):
			findings = slices.DeleteFunc(findings, func(f finding) bool { return f.reason != v1.ReasonNodeLost })
		default:
			continue
		}
		early = append(early, findings...)
		found = append(found, due(findings, now)...)
		requeueAfter = minNonZero(requeueAfter, nextDue(findings, now))
	}
	if r.TimedOut && len(found) == 0 {
		found = slices.DeleteFunc(early, r.isLate) // Their time is over, and no other finding explains it.
	}
	problems = group(found)
	if lateUntil = r.lateUntil(found); lateUntil.After(now) {
		requeueAfter = minNonZero(requeueAfter, lateUntil.Sub(now))
	} else {
		lateUntil = time.Time{}
	}
	if failure := r.failure(snapshot, current); failure != "" {
		problems = append(problems, v1.Problem{Reason: apierror.ReasonForPods(failure), Message: CreationFailure(failure)})
	}
	if r.TimedOut {
		progressing := r.Condition(appsv1.DeploymentProgressing)
		problems = append(problems, v1.Problem{Reason: v1.ReasonProgressDeadlineExceeded, Message: sanitize(progressing.Message)})
	}
	for i := range problems {
		// Without a message, use the reason.
		problems[i].Message = cmp.Or(problems[i].Message, problems[i].Reason)
	}
	worst := ReasonsBySeverity()
	slices.SortFunc(problems, func(a, b v1.Problem) int {
		return cmp.Or(
			cmp.Compare(slices.Index(worst, a.Reason), slices.Index(worst, b.Reason)),
			cmp.Compare(b.Pods, a.Pods),
			cmp.Compare(a.Container, b.Container),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return problems[:min(len(problems), MaxProblems)], lateUntil, requeueAfter
}

// isLate reports whether what was found began after the deadline of the rollout had passed.
func (r Rollout) isLate(f finding) bool {
	progressing := r.Condition(appsv1.DeploymentProgressing)
	return r.TimedOut && !progressing.LastUpdateTime.IsZero() && f.since.After(progressing.LastUpdateTime.Time)
}

// lateUntil returns until when pods that started late may become ready: they have as long as the rollout had. Kubernetes counts no time for
// them, because its condition Progressing stays as it is until a pod is ready. It is zero if a pod that did not start late is not ready either.
func (r Rollout) lateUntil(found []finding) time.Time {
	var first time.Time
	for _, f := range found {
		switch {
		case f.reason != v1.ReasonReadinessFailing:
		case !r.isLate(f):
			return time.Time{}
		case first.IsZero() || f.since.Before(first):
			first = f.since
		}
	}
	if first.IsZero() {
		return first
	}
	return first.Add(progressDeadline(r.Deployment))
}

// progressDeadline is how long a rollout may take until the next of its pods is ready.
func progressDeadline(deployment *appsv1.Deployment) time.Duration {
	const otherwise = 600 // The API server's default.
	if deployment.Spec.ProgressDeadlineSeconds == nil {
		return otherwise * time.Second
	}
	return time.Duration(*deployment.Spec.ProgressDeadlineSeconds) * time.Second
}

// currentReplicaSet returns the ReplicaSet of the Deployment's revision, or nil if the caches do not have it yet. Both carry
// the number of the revision; the Deployment controller sets it before observedGeneration.
func currentReplicaSet(snapshot child.Snapshot, deployment *appsv1.Deployment) *child.ReplicaSet {
	revision := deployment.Annotations[child.RevisionAnnotation]
	var current *child.ReplicaSet
	for _, r := range snapshot.ReplicaSets {
		// If there are two by mistake, always select the same one.
		if r.Deployment == deployment.UID && r.Revision == revision && (current == nil || r.Name < current.Name) {
			current = r
		}
	}
	return current
}

// owns reports whether the pod is of a ReplicaSet of the Deployment.
func owns(snapshot child.Snapshot, deployment *appsv1.Deployment, pod *child.Pod) bool {
	return slices.ContainsFunc(snapshot.ReplicaSets, func(r *child.ReplicaSet) bool {
		return r.UID == pod.ReplicaSet && r.Deployment == deployment.UID
	})
}

// failure returns why no more pods of the current revision, or of any while Paused, can be created. It is the Deployment's own condition
// until the current ReplicaSet is known. While Paused it is not, because the Deployment controller does not update it then.
func (r Rollout) failure(snapshot child.Snapshot, current *child.ReplicaSet) string {
	switch {
	case r.Paused && (current == nil || current.Failure == ""):
		return failureOfAny(snapshot, r.Deployment)
	case current != nil:
		return current.Failure
	}
	if failure := r.replicaFailure(); failure != nil {
		return failure.Message
	}
	return ""
}

// failureOfAny returns why a ReplicaSet of the Deployment cannot create its pods; the first one by name, so that it does not depend on
// their order.
func failureOfAny(snapshot child.Snapshot, deployment *appsv1.Deployment) string {
	var first *child.ReplicaSet
	for _, r := range snapshot.ReplicaSets {
		if r.Deployment == deployment.UID && r.Failure != "" && (first == nil || r.Name < first.Name) {
			first = r
		}
	}
	if first == nil {
		return ""
	}
	return first.Failure
}

// Worst returns the problem that best explains why the Application is not ready, or nil.
func (r Rollout) Worst() *v1.Problem {
	if i := slices.IndexFunc(r.Problems, func(problem v1.Problem) bool { return explains(problem.Reason) }); i >= 0 {
		return &r.Problems[i]
	}
	return nil
}

// Describe describes a problem in a sentence.
func (r Rollout) Describe(problem *v1.Problem) string {
	var subjects []string
	if problem.Pods > 0 {
		subjects = append(subjects, howMany(problem.Pods, r.Desired))
	}
	if problem.Container != "" {
		subjects = append(subjects, "container "+problem.Container)
	}
	if len(subjects) == 0 {
		return text.Capitalize(text.Sentence(problem.Message))
	}
	return text.Sentence(strings.Join(subjects, ", ") + ": " + problem.Message)
}

// howMany returns how many of the desired pods have a problem. There may be more than desired for a while.
func howMany(some, all int32) string {
	switch {
	case some == 1 && all == 1:
		return "1 pod"
	case some == all:
		return fmt.Sprintf("All %d pods", all)
	case some > all:
		return fmt.Sprintf("%d pods", some)
	default:
		return fmt.Sprintf("%d of %d pods", some, all)
	}
}

// group combines the same finding of several pods into one problem.
func group(found []finding) []v1.Problem {
	type key struct{ reason, container string }
	groups := map[key][]finding{}
	for _, f := range found {
		k := key{f.reason, f.container}
		groups[k] = append(groups[k], f)
	}
	var problems []v1.Problem
	for k, same := range groups {
		problems = append(problems, v1.Problem{Reason: k.reason, Container: k.container, Message: commonMessage(same), Pods: int32(len(same))})
	}
	return problems
}

// commonMessage returns the message of most pods; among several the first in alphabetical order, so that it does not depend
// on the order of the pods. For a state it names the pod that has been in it for the longest time, and since when. That is a
// time and not a duration, because a duration would change the message each second.
func commonMessage(same []finding) string {
	counts := map[string]int{}
	longest := slices.MinFunc(same, func(a, b finding) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.pod, b.pod))
	})
	for _, f := range same {
		counts[sanitize(f.message)]++
	}
	best, most := "", 0
	for text, count := range counts {
		if count > most || count == most && text < best {
			best, most = text, count
		}
	}
	best = strings.Replace(best, whichPod, longest.pod, 1)
	best = strings.Replace(best, sinceWhen, longest.since.UTC().Format(time.RFC3339), 1)
	return text.TruncateMiddle(best, MaxProblemMessage)
}

// due returns the findings that count now. The others belong to pods that are starting.
func due(findings []finding, now time.Time) []finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f finding) bool { return f.due.After(now) })
}

// nextDue returns the time until the next finding counts, or 0. If the clock was set back, that is not longer than it would be for a
// state that has just begun: the clock may be mended meanwhile, and no event tells.
func nextDue(findings []finding, now time.Time) time.Duration {
	var next time.Duration
	for _, f := range findings {
		if f.due.After(now) {
			next = minNonZero(next, min(f.due.Sub(now), max(f.due.Sub(f.since), mountGrace)))
		}
	}
	return next
}

func sanitize(message string) string { return text.Sanitize(message, MaxProblemMessage) }

// minNonZero returns the shorter of two durations, where 0 means never.
func minNonZero(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
