// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(seconds int) metav1.Time {
	return metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second))
}

// newPod returns a pod that is scheduled, has its sandbox, and whose container has run since noon without being
// ready.
func newPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-2-x", UID: "pod-uid", ResourceVersion: "7",
			Labels:          map[string]string{v1.LabelApplication: "web"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", UID: "replicaset-uid", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "migrate"}, {Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
			Containers:     []corev1.Container{{Name: "web"}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			InitContainerStatuses: []corev1.ContainerStatus{
				{Name: "migrate", Ready: true, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}},
				{Name: "proxy", Ready: true, Started: new(true), State: running(-1)},
			},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "web", Started: new(true), State: running(0)}},
		},
	}
	says(pod, corev1.PodScheduled, corev1.ConditionTrue, "", -2)
	says(pod, corev1.PodReadyToStartContainers, corev1.ConditionTrue, "", -1)
	says(pod, corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", -2)
	says(pod, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", -2)
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func says(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, reason string, seconds int) {
	next := corev1.PodCondition{Type: kind, Status: status, Reason: reason, Message: "about " + reason, LastTransitionTime: at(seconds)}
	if c := condition(pod, kind); c != nil {
		*c = next
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, next)
}

func running(seconds int) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(seconds)}}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func terminated(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}
}

// web sets the status of the container.
func web(state, last corev1.ContainerState, restarts int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		status := &pod.Status.ContainerStatuses[0]
		status.State, status.LastTerminationState, status.RestartCount = state, last, restarts
	}
}

func TestPodProblems(t *testing.T) {
	none := corev1.ContainerState{}
	of := func(c Container) *PodProblems { c.Name = "web"; return &PodProblems{Containers: []Container{c}} }
	crash := func(restarts int32) *PodProblems {
		return of(Container{Termination: &Termination{ExitCode: 1, Reason: "Error", Restarts: restarts}})
	}
	probe := func(change func(*corev1.Container)) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { change(&pod.Spec.Containers[0]) }
	}
	pending := func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = corev1.PodPending, nil, nil
		pod.Status.Conditions = nil
	}
	tests := []struct {
		name string
		pod  *corev1.Pod
		want *PodProblems
	}{
		{"serves", newPod(func(p *corev1.Pod) { says(p, corev1.PodReady, corev1.ConditionTrue, "", 3) }), nil},
		{"new", newPod(pending), nil},
		{"is being deleted", newPod(func(p *corev1.Pod) { p.DeletionTimestamp = new(at(0)) }), nil},
		{"is created", newPod(web(waiting("ContainerCreating", ""), none, 0)), nil},
		{"waits for its init containers", newPod(web(waiting("PodInitializing", ""), none, 0)), nil},
		{"runs", newPod(), of(Container{Unready: &Unready{Since: at(0), Due: at(10)}})},
		{"runs, with a probe", newPod(probe(func(c *corev1.Container) {
			c.ReadinessProbe = &corev1.Probe{InitialDelaySeconds: 5, PeriodSeconds: 10, FailureThreshold: 3}
		})), of(Container{Unready: &Unready{Since: at(0), Due: at(15)}})},
		{"starts up", newPod(probe(func(c *corev1.Container) { c.StartupProbe = &corev1.Probe{} }), func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].Started = new(false)
		}), nil},
		{"was ready", newPod(func(p *corev1.Pod) { says(p, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", 60) }),
			of(Container{Unready: &Unready{Since: at(60), Due: at(60)}})},
		{"waits for an image", newPod(web(waiting("ErrImagePull", "not found"), none, 0)), of(Container{Waiting: &ReasonMessage{"ErrImagePull", "not found"}})},

		{"ended for the first time", newPod(web(terminated(1, "Error", ""), none, 0)), nil},
		{"runs after one end", newPod(web(running(3), terminated(1, "Error", ""), 1)), of(Container{Unready: &Unready{Since: at(3), Due: at(13)}})},
		{"ended again", newPod(web(terminated(1, "Error", "last words"), terminated(1, "Error", ""), 1)), crash(0)},
		{"backs off", newPod(web(waiting("CrashLoopBackOff", "back-off 10s"), terminated(1, "Error", "last words"), 1)), crash(0)},
		{"runs once more", newPod(web(running(9), terminated(1, "Error", ""), 2)), crash(0)},
		{"backs off longer", newPod(web(waiting("CrashLoopBackOff", "back-off 5m0s"), terminated(1, "Error", ""), 7)), crash(5)},
		{"backs off for weeks", newPod(web(waiting("CrashLoopBackOff", "back-off 5m0s"), terminated(1, "Error", ""), 3021)), crash(1000)},
		{"was ready after its crashes", newPod(web(running(9), terminated(1, "Error", ""), 2), func(p *corev1.Pod) {
			says(p, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", 60)
		}), of(Container{Unready: &Unready{Since: at(60), Due: at(60)}})},
		{"cannot be run", newPod(web(waiting("CrashLoopBackOff", ""), terminated(128, "StartError", "exec: no such file"), 1)),
			of(Container{Termination: &Termination{ExitCode: 128, Reason: "StartError", Message: "exec: no such file"}})},

		{"init container ends", newPod(func(p *corev1.Pod) {
			says(p, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", -2)
			p.Status.InitContainerStatuses[0] = corev1.ContainerStatus{Name: "migrate", RestartCount: 1, State: waiting("CrashLoopBackOff", ""), LastTerminationState: terminated(2, "Error", "")}
			web(waiting("PodInitializing", ""), none, 0)(p)
		}), &PodProblems{Containers: []Container{{Name: "migrate", Init: true, Termination: &Termination{ExitCode: 2, Reason: "Error"}}}}},
		{"init container runs", newPod(func(p *corev1.Pod) {
			p.Status.InitContainerStatuses[0] = corev1.ContainerStatus{Name: "migrate", State: running(0)}
			web(waiting("PodInitializing", ""), none, 0)(p)
		}), nil},
		{"sidecar ends", newPod(func(p *corev1.Pod) {
			p.Status.InitContainerStatuses[1] = corev1.ContainerStatus{Name: "proxy", RestartCount: 1, State: waiting("CrashLoopBackOff", ""), LastTerminationState: terminated(2, "Error", "")}
			p.Status.ContainerStatuses[0].Ready = true
		}), &PodProblems{Containers: []Container{{Name: "proxy", Termination: &Termination{ExitCode: 2, Reason: "Error"}}}}},
		{"debugged", newPod(func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].Name = "not-in-the-spec"
		}), nil},

		{"unschedulable", newPod(pending, func(p *corev1.Pod) { says(p, corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", 0) }),
			&PodProblems{Unscheduled: &ReasonMessage{"Unschedulable", "about Unschedulable"}}},
		{"without a sandbox", newPod(pending, func(p *corev1.Pod) {
			says(p, corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", 0)
		}), &PodProblems{NotReadyToStart: new(at(0))}},
		{"evicted", newPod(func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", "low on memory"
		}), &PodProblems{Failed: &ReasonMessage{"Evicted", "low on memory"}}},
		{"on a node that is lost", newPod(func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].Ready = true
			says(p, corev1.ContainersReady, corev1.ConditionTrue, "", 3)
			says(p, corev1.PodReady, corev1.ConditionFalse, "", 90)
		}), &PodProblems{NodeUnreachable: new(at(90))}},
		{"behind a readiness gate", newPod(func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].Ready = true
			says(p, corev1.ContainersReady, corev1.ConditionTrue, "", 3)
			says(p, corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady", 1)
		}), &PodProblems{Gate: &Unready{Since: at(1), Due: at(31), Message: "about ReadinessGatesNotReady"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := NewPod(test.pod)
			if diff := cmp.Diff(test.want, got.Problems); diff != "" {
				t.Errorf("trouble (-want +got):\n%s", diff)
			}
			if got.Namespace != "shop" || got.Name != "web-2-x" || got.UID != "pod-uid" || got.ResourceVersion != "7" ||
				got.Application != "web" || got.ReplicaSet != "replicaset-uid" || got.Labels != nil {
				t.Errorf("pod %+v", got)
			}
		})
	}
}

// A crash loop looks the same in each of its states, so a pod that keeps crashing changes nothing.
func TestCrashLoopIsSteady(t *testing.T) {
	last := terminated(1, "Error", "")
	before := NewPod(newPod(web(waiting("CrashLoopBackOff", "back-off 10s"), last, 1)))
	for restarts := int32(1); restarts < 5; restarts++ {
		for _, state := range []corev1.ContainerState{
			terminated(1, "Error", "last words"), waiting("CrashLoopBackOff", "back-off 20s"),
		} {
			if got := NewPod(newPod(web(state, last, restarts))); !SamePod(before, got) {
				t.Errorf("after %d restarts: %+v", restarts, got.Problems)
			}
		}
		if got := NewPod(newPod(web(running(100), last, restarts+1))); restarts+1 < 5 && !SamePod(before, got) {
			t.Errorf("running after %d restarts: %+v", restarts+1, got.Problems)
		}
	}
}

func TestSamePod(t *testing.T) {
	healthy := NewPod(newPod(func(p *corev1.Pod) { says(p, corev1.PodReady, corev1.ConditionTrue, "", 3) }))
	unready := NewPod(newPod())
	later := NewPod(newPod(func(p *corev1.Pod) { p.ResourceVersion = "8"; p.Status.PodIP = "192.0.2.1" }))
	for _, test := range []struct {
		name          string
		before, after *Pod
		want          bool
	}{
		{"healthy, new", nil, healthy, true},
		{"healthy, gone", healthy, nil, true},
		{"in trouble, new", nil, unready, false},
		{"in trouble, gone", unready, nil, false},
		{"the same trouble", unready, later, true},
		{"serves now", unready, healthy, false},
	} {
		if got := SamePod(test.before, test.after); got != test.want {
			t.Errorf("%s: the same %t, want %t", test.name, got, test.want)
		}
	}
}

func TestNewReplicaSet(t *testing.T) {
	replicaSet := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-2", UID: "replicaset-uid", ResourceVersion: "7",
			Labels:          map[string]string{v1.LabelApplication: "web"},
			Annotations:     map[string]string{RevisionAnnotation: "2"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Deployment", UID: "deployment-uid", Controller: new(true)}},
		},
		Status: appsv1.ReplicaSetStatus{Conditions: []appsv1.ReplicaSetCondition{
			{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota: small"},
		}},
	}
	got := NewReplicaSet(replicaSet)
	want := &ReplicaSet{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: "web-2", UID: "replicaset-uid", ResourceVersion: "7"},
		Application: "web", Deployment: "deployment-uid", Revision: "2", Failure: "exceeded quota: small",
		HasPods: true, References: "default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	replicaSet.ResourceVersion, replicaSet.Status.Replicas = "8", 3
	if !SameReplicaSet(got, NewReplicaSet(replicaSet)) || SameReplicaSet(got, nil) || SameReplicaSet(nil, got) {
		t.Error("a count of pods alone should make no difference, and its absence one")
	}
	replicaSet.Spec.Replicas = new(int32(0))
	if !SameReplicaSet(got, NewReplicaSet(replicaSet)) {
		t.Error("pods that are on their way out are pods")
	}
	replicaSet.Status.Replicas = 0
	if got := NewReplicaSet(replicaSet); got.HasPods || SameReplicaSet(got, NewReplicaSet(&appsv1.ReplicaSet{})) {
		t.Errorf("the last pod is gone: %+v", got)
	}
	replicaSet.Status.Conditions[0].Status = corev1.ConditionFalse
	if got := NewReplicaSet(replicaSet); got.Failure != "" {
		t.Errorf("a failure that is over: %q", got.Failure)
	}
}
