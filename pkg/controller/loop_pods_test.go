// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// startPod plays Kubernetes: it makes the current ReplicaSet of the Deployment, and a pod that runs since
// now and is not ready.
func (w *world) startPod(name string) {
	w.Helper()
	deployment := applytest.Edit(w.server, child.Deployment, namespace, name, func(d *appsv1.Deployment) {
		d.Annotations[child.RevisionAnnotation] = "1"
	})
	w.pods(name, 0) // It observes the generation of the annotation.
	meta := metav1.ObjectMeta{
		Namespace: namespace, Name: name + "-1", Labels: map[string]string{v1.LabelApplication: name},
		Annotations:     map[string]string{child.RevisionAnnotation: "1"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, child.Deployment.GroupVersionKind())},
	}
	replicaSet := applytest.Put(w.server, applytest.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: meta})
	pod := &corev1.Pod{ObjectMeta: *meta.DeepCopy(), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: name}}}}
	pod.Name = name + "-1-x"
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(replicaSet, applytest.ReplicaSets.GroupVersionKind())}
	applytest.Put(w.server, applytest.Pods, pod)
	applytest.EditStatus(w.server, applytest.Pods, namespace, pod.Name, func(pod *corev1.Pod) {
		pod.Status = corev1.PodStatus{
			Phase:             corev1.PodRunning,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: name, Started: new(true), State: running()}},
		}
	})
}

// kubelet changes what the kubelet says of the container.
func (w *world) kubelet(name string, change func(*corev1.ContainerStatus)) {
	w.Helper()
	applytest.EditStatus(w.server, applytest.Pods, namespace, name+"-1-x", func(pod *corev1.Pod) { change(&pod.Status.ContainerStatuses[0]) })
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
}

func (w *world) wantProblem(name, reason string) {
	w.Helper()
	problems := w.application(name).Status.Problems
	if got := fmt.Sprint(problems); reason == "" && len(problems) > 0 || reason != "" && !strings.Contains(got, reason) {
		w.Errorf("problems are %s, want %q", got, reason)
	}
}

// A pod that crashes for a day is told once, and then a few times more: when its restarts reach a next step.
func TestCrashLoopComesToRest(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Minute)
		w.startPod("web")
		crash := func() {
			end := &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", StartedAt: metav1.Now(), FinishedAt: metav1.Now()}
			w.kubelet("web", func(c *corev1.ContainerStatus) { c.State = corev1.ContainerState{Terminated: end} })
			pass(time.Second)
			w.kubelet("web", func(c *corev1.ContainerStatus) {
				c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off until " + time.Now().String()}}
				c.LastTerminationState = corev1.ContainerState{Terminated: end}
			})
			pass(5 * time.Minute)
			w.kubelet("web", func(c *corev1.ContainerStatus) { c.State, c.RestartCount = running(), c.RestartCount+1 })
			pass(20 * time.Second)
		}
		crash()
		crash()
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonCrashLooping)
		w.wantProblem("web", "CrashLooping Exited with code 1 (Error). web 1")
		before := w.count(statusOf("web"))
		crash()
		crash()
		if after := w.count(statusOf("web")); after != before {
			w.Errorf("%d writes of status for two more restarts, want none", after-before)
		}
		for range 250 {
			crash()
		}
		if after := w.count(statusOf("web")); after-before != 4 {
			w.Errorf("%d writes of status for 250 restarts, want 4: at 5, 10, 50 and 100", after-before)
		}
		w.wantProblem("web", "Restarted at least 100 times.")

		applytest.EditStatus(w.server, applytest.Pods, namespace, "web-1-x", func(pod *corev1.Pod) {
			pod.Status.Conditions[0].Status = corev1.ConditionTrue
			pod.Status.ContainerStatuses[0].Ready = true
		})
		w.pods("web", 1)
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		w.wantProblem("web", "")
	})
}

// A pod that only starts is no problem, until it takes too long: then nothing changes but the time. One Event tells it.
func TestReadinessIsOverdue(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Minute)
		w.startPod("web")
		pass(8 * time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRollingOut)
		w.wantProblem("web", "")
		pass(5 * time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonReadinessFailing)
		const event = "Warning ReadinessFailing 1 pod, container web: Pod web-1-x is running, but not ready since 2000-01-01T00:01:00Z. 1 pod is updated, 0 available."
		if got := w.told(); !slices.Equal(got, []string{event}) {
			w.Errorf("the Events are %q, want %q", got, event)
		}
		before := w.count(statusOf("web"))
		pass(time.Hour)
		if got := w.told(); len(got) > 0 {
			w.Errorf("Events in an hour in which nothing happened: %q", got)
		}
		if after := w.count(statusOf("web")); after != before {
			w.Errorf("%d writes of status in an hour in which nothing happened", after-before)
		}
	})
}

// Pods that start and serve do not even wake the Application.
func TestHealthyPodsWakeNobody(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Minute)
		w.startPod("web")
		applytest.EditStatus(w.server, applytest.Pods, namespace, "web-1-x", func(pod *corev1.Pod) {
			pod.Status.Conditions[0].Status = corev1.ConditionTrue
			pod.Status.ContainerStatuses[0].Ready = true
		})
		w.pods("web", 1)
		pass(time.Minute)
		before, syncs := w.count(statusOf("web")), len(w.log.find(`"Synced"`))
		for i := range 10 {
			applytest.EditStatus(w.server, applytest.Pods, namespace, "web-1-x", func(pod *corev1.Pod) {
				pod.Status.PodIP = fmt.Sprintf("192.0.2.%d", i)
			})
			pass(time.Second)
		}
		if after := w.count(statusOf("web")); after != before {
			w.Errorf("%d writes of status", after-before)
		}
		if after := len(w.log.find(`"Synced"`)); after != syncs {
			w.Errorf("%d syncs for nothing", after-syncs)
		}
	})
}
