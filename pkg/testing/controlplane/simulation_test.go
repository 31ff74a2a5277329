// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const behaviorKey = "simulate.fairlead.dev/behavior"

// TestSimulatedFailures shows what a pod looks like for each behavior that it can ask for.
func TestSimulatedFailures(t *testing.T) {
	cp := sharedPlane.Get(t)
	client := newClient(t, cp.Config())

	tests := []struct {
		name   string
		modify func(*corev1.Pod)
		want   func(*corev1.Pod) bool
	}{
		{
			name:   "no behavior",
			modify: func(*corev1.Pod) {},
			want: func(pod *corev1.Pod) bool {
				return pod.Status.Phase == corev1.PodRunning && ready(pod) && pod.Status.PodIP != ""
			},
		},
		{
			name: "init container and native sidecar",
			modify: func(pod *corev1.Pod) {
				always := corev1.ContainerRestartPolicyAlways
				pod.Spec.InitContainers = []corev1.Container{
					{Name: "migrate", Image: "ghcr.io/acme/migrate:1"},
					{Name: "proxy", Image: "ghcr.io/acme/proxy:1", RestartPolicy: &always},
				}
			},
			want: func(pod *corev1.Pod) bool {
				init := pod.Status.InitContainerStatuses
				return ready(pod) && len(init) == 2 && init[0].State.Terminated != nil && init[1].State.Running != nil
			},
		},
		{
			name:   "image-pull-error",
			modify: annotate("image-pull-error"),
			want: func(pod *corev1.Pod) bool {
				waiting := first(pod).State.Waiting
				return pod.Status.Phase == corev1.PodPending && waiting != nil && waiting.Reason == "ImagePullBackOff" &&
					strings.Contains(waiting.Message, "ghcr.io/acme/web:1: not found")
			},
		},
		{
			name:   "crash-loop",
			modify: annotate("crash-loop"),
			want: func(pod *corev1.Pod) bool {
				status := first(pod)
				return pod.Status.Phase == corev1.PodRunning && status.RestartCount > 0 &&
					status.State.Waiting != nil && status.State.Waiting.Reason == "CrashLoopBackOff" &&
					status.LastTerminationState.Terminated != nil && status.LastTerminationState.Terminated.ExitCode == 1
			},
		},
		{
			name:   "crash-loop, asked for by the image's name",
			modify: func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "ghcr.io/simulate/crash-loop:1" },
			want: func(pod *corev1.Pod) bool {
				return first(pod).State.Waiting != nil && first(pod).State.Waiting.Reason == "CrashLoopBackOff"
			},
		},
		{
			name:   "readiness-failing",
			modify: annotate("readiness-failing"),
			want: func(pod *corev1.Pod) bool {
				return pod.Status.Phase == corev1.PodRunning && first(pod).State.Running != nil && !ready(pod) &&
					condition(pod, corev1.PodReady).Reason == "ContainersNotReady"
			},
		},
		{
			name:   "slow-start",
			modify: annotate("slow-start"),
			want: func(pod *corev1.Pod) bool {
				became := condition(pod, corev1.PodReady).LastTransitionTime
				return ready(pod) && became.Sub(pod.Status.StartTime.Time).Seconds() >= 4
			},
		},
		{
			name:   "unschedulable",
			modify: func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{behaviorKey: "unschedulable"} },
			want: func(pod *corev1.Pod) bool {
				return pod.Status.Phase == corev1.PodPending && condition(pod, corev1.PodScheduled).Reason == corev1.PodReasonUnschedulable
			},
		},
		{
			name:   "unknown behavior",
			modify: annotate("crash-lop"),
			want: func(pod *corev1.Pod) bool {
				waiting := first(pod).State.Waiting
				return waiting != nil && waiting.Reason == "CreateContainerConfigError" && strings.Contains(waiting.Message, `"crash-lop"`)
			},
		},
	}

	pods := client.CoreV1().Pods(cp.Namespace(t))
	for i, test := range tests { // All at once, since a slow start is slow.
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: podName(i)},
			Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "web", Image: "ghcr.io/acme/web:1"},
				{Name: "sidecar", Image: "ghcr.io/acme/log:1"},
			}},
		}
		test.modify(pod)
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			eventually(t, test.name, func(ctx context.Context) (bool, error) {
				live, err := pods.Get(ctx, podName(i), metav1.GetOptions{})
				return err == nil && test.want(live), err
			})
		})
	}
	if err := pods.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all pods are gone", func(ctx context.Context) (bool, error) {
		left, err := pods.List(ctx, metav1.ListOptions{})
		return err == nil && len(left.Items) == 0, err
	})
}

func podName(index int) string { return fmt.Sprintf("pod-%d", index) }

func annotate(behavior string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations = map[string]string{behaviorKey: behavior} }
}

func first(pod *corev1.Pod) corev1.ContainerStatus {
	if len(pod.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return pod.Status.ContainerStatuses[0]
}

func condition(pod *corev1.Pod, conditionType corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return corev1.PodCondition{}
}

func ready(pod *corev1.Pod) bool {
	return condition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}
