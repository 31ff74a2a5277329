// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodProblems is what the status of a pod says about why it does not serve, without what changes although nothing is
// new: back-off times, single restarts, and start times in a crash loop. pkg/health decides what it means.
type PodProblems struct {
	// Failed is why the pod failed for good.
	Failed *ReasonMessage
	// Unscheduled is why the scheduler found no node for it.
	Unscheduled *ReasonMessage
	// NotReadyToStart is the time since which its node has had no volumes or network for it.
	NotReadyToStart *metav1.Time
	// NodeUnreachable is the time since which the control plane has marked it not ready, although its kubelet last
	// reported it ready.
	NodeUnreachable *metav1.Time
	// Gate is a readiness gate that is not True.
	Gate *Unready
	// Containers are the containers with a problem, init containers first.
	Containers []Container
}

// ReasonMessage is a reason and a message of another component.
type ReasonMessage struct {
	Reason, Message string
}

// Container is a container with a problem: it waits, keeps exiting, or runs without being ready.
type Container struct {
	Name string
	// Init means that the pod starts only after the container has succeeded.
	Init bool
	// Waiting is why the container cannot start.
	Waiting *ReasonMessage
	// Termination is its last exit, if it keeps exiting and has not been ready since.
	Termination *Termination
	// Unready is set if the container runs without being ready.
	Unready *Unready
}

// Termination is how a container exited.
type Termination struct {
	ExitCode int32
	Reason   string
	// Message is that of the container runtime, if it could not start the container. The container's own termination
	// message is left out: it may contain anything, secrets included.
	Message string
	// Restarts is rounded down to one of a few steps, so that it seldom changes.
	Restarts int32
}

// FailedToStart reports whether the container runtime could not start the container.
func (t *Termination) FailedToStart() bool {
	return t.Reason == startError || t.Reason == containerCannotRun
}

// Unready is about something that should become ready, and has not.
type Unready struct {
	Since metav1.Time
	// Due is when it should be ready according to its own settings. Before that, it is just starting.
	Due metav1.Time
	// Message explains why, if a component reports it.
	Message string
	// Probe is the readiness probe that decides; "" if there is none.
	Probe string
}

// The kubelet's reasons for which a container waits. They need not be a problem, or another field shows it.
const (
	containerCreating = "ContainerCreating"
	podInitializing   = "PodInitializing"
	crashLoopBackOff  = "CrashLoopBackOff"
	// The container runtime could not start the container; the message of the termination is the runtime's.
	startError         = "StartError"
	containerCannotRun = "ContainerCannotRun"
)

// readinessGatesNotReady is the kubelet's reason for a pod that is not ready although all its containers are.
const readinessGatesNotReady = "ReadinessGatesNotReady"

const (
	// readinessGrace is how long a container without a readiness probe may run without being ready.
	readinessGrace = 10 * time.Second
	// gateGrace is the same for readiness gates, which other controllers set.
	gateGrace = 30 * time.Second
)

// findProblems returns the problems of a pod, or nil. A pod that is being deleted has none: its successor counts.
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

// isCrashLooping reports whether the container is in a crash loop, in any of its states, so that all of them look the
// same: waiting for the next start, started again, or just exited again. One exit is no loop yet.
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

// lostReadiness reports whether the container has been ready since its last start: the pod became not ready after
// that.
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
		if end.FailedToStart() {
			end.Message = last.Message
		}
	}
	return end
}

// roundRestarts rounds down, so that a crash loop of weeks changes the number only a few times.
func roundRestarts(restarts int32) int32 {
	for _, step := range []int32{10000, 1000, 500, 100, 50, 10, 5} {
		if restarts >= step {
			return step
		}
	}
	return 0
}

// unready returns the Unready of a running container, or nil while its startup probe is pending: if that fails for
// too long, the kubelet kills the container.
func unready(spec *corev1.Container, status *corev1.ContainerStatus, ready *corev1.PodCondition) *Unready {
	if spec.StartupProbe != nil && (status.Started == nil || !*status.Started) {
		return nil
	}
	if lostReadiness(status, ready) {
		return &Unready{Since: ready.LastTransitionTime, Due: ready.LastTransitionTime, Probe: describeProbe(spec)}
	}
	started := status.State.Running.StartedAt
	grace := readinessGrace
	if probe := spec.ReadinessProbe; probe != nil {
		// Then the first probe has failed, and the second one is due.
		grace = time.Duration(probe.InitialDelaySeconds+probe.PeriodSeconds) * time.Second
	}
	return &Unready{Since: started, Due: after(started, grace), Probe: describeProbe(spec)}
}

func after(t metav1.Time, d time.Duration) metav1.Time { return metav1.NewTime(t.Add(d)) }
