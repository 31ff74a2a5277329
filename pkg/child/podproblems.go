// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodProblems is what a pod that does not serve says of itself, without what changes although
// nothing is new: back-off times, single restarts, times of starts in a crash loop. What it means is
// decided by pkg/status.
type PodProblems struct {
	// Failed is why the pod ended for good.
	Failed *ReasonMessage
	// Unscheduled is why no node takes it.
	Unscheduled *ReasonMessage
	// NotReadyToStart is since when its node has taken it, but has no volumes or network for it.
	NotReadyToStart *metav1.Time
	// NodeUnreachable is since when the control plane has called it not ready, although the last that its
	// kubelet said was that it is.
	NodeUnreachable *metav1.Time
	// Gate is a readiness gate that is not open.
	Gate *Unready
	// Containers are those in trouble, init containers first.
	Containers []Container
}

// ReasonMessage is the reason and message of another component.
type ReasonMessage struct {
	Reason, Message string
}

// Container is one in trouble: it waits, keeps ending, or runs without being ready.
type Container struct {
	Name string
	// Init tells that the pod begins when the container has ended well.
	Init bool
	// Waiting is why it cannot be started.
	Waiting *ReasonMessage
	// Ended is how it ended last, if it did so repeatedly and was not ready since.
	Termination *Termination
	// Unready is since when it runs without being ready.
	Unready *Unready
}

// Termination is how a container ended.
type Termination struct {
	ExitCode int32
	Reason   string
	// Message is the container runtime's, where it could not even start the container. What the
	// container itself left as its last words is not kept: it may be anything, secrets included.
	Message string
	// Restarts is rounded down to one of a few steps, so that it stays for long.
	Restarts int32
}

// Unready is about something that should become ready, and has not.
type Unready struct {
	Since metav1.Time
	// Due is when it should have been ready by its own terms. Before, it is just starting.
	Due metav1.Time
	// Message is why, where anybody says so.
	Message string
}

// Reasons for which a container waits that need not be trouble, or are seen elsewhere.
const (
	containerCreating = "ContainerCreating"
	podInitializing   = "PodInitializing"
	crashLoopBackOff  = "CrashLoopBackOff"
	// The container runtime could not start it; the message of its end is the runtime's.
	startError         = "StartError"
	containerCannotRun = "ContainerCannotRun"
)

// readinessGatesNotReady is the kubelet's reason for not ready, where all containers are.
const readinessGatesNotReady = "ReadinessGatesNotReady"

const (
	// readinessGrace is for how long a container may always run without being ready.
	readinessGrace = 10 * time.Second
	// gateGrace is the same for readiness gates, whose controllers are others'.
	gateGrace = 30 * time.Second
)

// findProblems finds out what a pod has to say. One that is being deleted says nothing that matters: its
// successor does.
func findProblems(pod *corev1.Pod) *PodProblems {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	t := PodProblems{}
	if pod.Status.Phase == corev1.PodFailed {
		t.Failed = &ReasonMessage{Reason: pod.Status.Reason, Message: pod.Status.Message}
		return &t
	}
	ready := condition(pod, corev1.PodReady)
	if ready != nil && ready.Status == corev1.ConditionTrue {
		return nil
	}
	if scheduled := condition(pod, corev1.PodScheduled); scheduled != nil && scheduled.Status == corev1.ConditionFalse {
		t.Unscheduled = &ReasonMessage{Reason: scheduled.Reason, Message: scheduled.Message}
	}
	if startable := condition(pod, corev1.PodReadyToStartContainers); startable != nil && startable.Status == corev1.ConditionFalse {
		t.NotReadyToStart = startable.LastTransitionTime.DeepCopy()
	}
	if containers := condition(pod, corev1.ContainersReady); ready != nil && containers != nil && containers.Status == corev1.ConditionTrue {
		if ready.Reason == readinessGatesNotReady {
			t.Gate = &Unready{Since: ready.LastTransitionTime, Due: after(ready.LastTransitionTime, gateGrace), Message: ready.Message}
		} else {
			t.NodeUnreachable = ready.LastTransitionTime.DeepCopy()
		}
	}
	t.Containers = append(containersOf(pod.Spec.InitContainers, pod.Status.InitContainerStatuses, true, ready),
		containersOf(pod.Spec.Containers, pod.Status.ContainerStatuses, false, ready)...)
	if t.Unscheduled == nil && t.NotReadyToStart == nil && t.Gate == nil && t.NodeUnreachable == nil && len(t.Containers) == 0 {
		return nil
	}
	return &t
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func containersOf(specs []corev1.Container, statuses []corev1.ContainerStatus, init bool, ready *corev1.PodCondition) []Container {
	var found []Container
	for i := range statuses {
		status := &statuses[i]
		at := slices.IndexFunc(specs, func(c corev1.Container) bool { return c.Name == status.Name })
		if status.Ready || at < 0 {
			continue
		}
		spec := &specs[at]
		// A restartable init container is a sidecar: it runs beside the others.
		c := Container{Name: status.Name, Init: init && spec.RestartPolicy == nil}
		switch waiting, running := status.State.Waiting, status.State.Running; {
		case isCrashLooping(status, ready):
			c.Termination = terminationOf(status)
		case waiting != nil && !slices.Contains([]string{"", containerCreating, podInitializing, crashLoopBackOff}, waiting.Reason):
			c.Waiting = &ReasonMessage{Reason: waiting.Reason, Message: waiting.Message}
		case running != nil && !c.Init:
			c.Unready = unready(spec, status, ready)
		}
		if c.Waiting != nil || c.Termination != nil || c.Unready != nil {
			found = append(found, c)
		}
	}
	return found
}

// isCrashLooping recognises a crash loop in each of its states, so that it looks the same in all of them: a
// container that waits for its next start, that was started again, or has just ended again. One end is
// not a loop yet.
func isCrashLooping(status *corev1.ContainerStatus, ready *corev1.PodCondition) bool {
	switch {
	case status.State.Waiting != nil:
		return status.State.Waiting.Reason == crashLoopBackOff
	case status.State.Terminated != nil:
		return status.RestartCount >= 1
	case status.State.Running != nil:
		return status.RestartCount >= 2 && status.LastTerminationState.Terminated != nil && !lostReadiness(status, ready)
	default:
		return false
	}
}

// lostReadiness reports whether the container has been ready since it was started last: then the pod became
// not ready after that.
func lostReadiness(status *corev1.ContainerStatus, ready *corev1.PodCondition) bool {
	return ready != nil && ready.LastTransitionTime.After(status.State.Running.StartedAt.Time)
}

func terminationOf(status *corev1.ContainerStatus) *Termination {
	last := status.State.Terminated
	if last == nil {
		last = status.LastTerminationState.Terminated
	}
	end := &Termination{Restarts: roundRestarts(status.RestartCount)}
	if last != nil {
		end.ExitCode, end.Reason = last.ExitCode, last.Reason
		if last.Reason == startError || last.Reason == containerCannotRun {
			end.Message = last.Message
		}
	}
	return end
}

// roundRestarts rounds a number of restarts down, so that a crash loop of weeks changes it a few times.
func roundRestarts(restarts int32) int32 {
	for _, step := range []int32{10000, 1000, 500, 100, 50, 10, 5} {
		if restarts >= step {
			return step
		}
	}
	return 0
}

// unready is about a container that runs. While its startup probe goes on nothing is to be said: if that
// fails for too long, the kubelet ends the container.
func unready(spec *corev1.Container, status *corev1.ContainerStatus, ready *corev1.PodCondition) *Unready {
	if spec.StartupProbe != nil && (status.Started == nil || !*status.Started) {
		return nil
	}
	if lostReadiness(status, ready) {
		return &Unready{Since: ready.LastTransitionTime, Due: ready.LastTransitionTime}
	}
	started := status.State.Running.StartedAt
	grace := readinessGrace
	if probe := spec.ReadinessProbe; probe != nil {
		terms := time.Duration(probe.InitialDelaySeconds)*time.Second +
			time.Duration(probe.PeriodSeconds)*time.Duration(probe.FailureThreshold)*time.Second
		grace = max(grace, terms)
	}
	return &Unready{Since: started, Due: after(started, grace)}
}

func after(t metav1.Time, d time.Duration) metav1.Time { return metav1.NewTime(t.Add(d)) }
