// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
)

// The conditions of a pod that has a node, with its volumes and network, and is not ready.
const onItsNode = `
conditions:
- {type: PodScheduled, status: "True", lastTransitionTime: "2026-11-21T11:58:00Z"}
- {type: PodReadyToStartContainers, status: "True", lastTransitionTime: "2026-11-21T11:58:01Z"}
- {type: Initialized, status: "True", lastTransitionTime: "2026-11-21T11:58:01Z"}
- {type: ContainersReady, status: "False", reason: ContainersNotReady, message: "containers with unready status: [web]", lastTransitionTime: "2026-11-21T11:58:00Z"}
- {type: Ready, status: "False", reason: ContainersNotReady, message: "containers with unready status: [web]", lastTransitionTime: "2026-11-21T11:58:00Z"}
`

// podStatuses are statuses as kubelet and scheduler write them, and what they become at noon.
var podStatuses = []struct {
	name   string
	status string
	want   *v1.Problem
}{
	{"image not found", onItsNode + `
containerStatuses:
- name: web
  state:
    waiting:
      reason: ErrImagePull
      message: 'rpc error: code = NotFound desc = failed to pull and unpack image "ghcr.io/acme/web:nope": failed to resolve reference "ghcr.io/acme/web:nope": ghcr.io/acme/web:nope: not found'
`, &v1.Problem{Reason: v1.ReasonImagePullFailed, Container: "web", Pods: 1, Message: `failed to pull and unpack image "ghcr.io/acme/web:nope": failed to resolve reference "ghcr.io/acme/web:nope": ghcr.io/acme/web:nope: not found`}},
	{"image not found, backing off", onItsNode + `
containerStatuses:
- name: web
  state:
    waiting:
      reason: ImagePullBackOff
      message: 'Back-off pulling image "ghcr.io/acme/web:nope": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "ghcr.io/acme/web:nope": failed to resolve reference "ghcr.io/acme/web:nope": ghcr.io/acme/web:nope: not found'
`, &v1.Problem{Reason: v1.ReasonImagePullFailed, Container: "web", Pods: 1, Message: `failed to pull and unpack image "ghcr.io/acme/web:nope": failed to resolve reference "ghcr.io/acme/web:nope": ghcr.io/acme/web:nope: not found`}},
	{"registry away", onItsNode + `
containerStatuses:
- name: web
  state:
    waiting:
      reason: ErrImagePull
      message: 'failed to pull and unpack image "r.example.com/web:1": failed to do request: Head "https://robot:s3cret@r.example.com/v2/web/manifests/1": read tcp 10.0.0.7:51234->192.0.2.9:443: i/o timeout'
`, &v1.Problem{Reason: v1.ReasonImagePullFailed, Container: "web", Pods: 1, Message: `failed to pull and unpack image "r.example.com/web:1": failed to do request: Head "https://***@r.example.com/v2/web/manifests/1": read tcp 10.0.0.7->192.0.2.9:443: i/o timeout`}},
	{"name of the image", onItsNode + `
containerStatuses:
- name: web
  state: {waiting: {reason: InvalidImageName, message: 'Failed to apply default image tag "Web:1": couldn''t parse image name "Web:1": invalid reference format: repository name must be lowercase'}}
`, &v1.Problem{Reason: v1.ReasonImagePullFailed, Container: "web", Pods: 1, Message: `Failed to apply default image tag "Web:1": couldn't parse image name "Web:1": invalid reference format: repository name must be lowercase`}},
	{"missing Secret", onItsNode + `
containerStatuses:
- name: web
  state: {waiting: {reason: CreateContainerConfigError, message: secret "web-db" not found}}
`, &v1.Problem{Reason: v1.ReasonConfigError, Container: "web", Pods: 1, Message: `secret "web-db" not found`}},
	{"missing key", onItsNode + `
containerStatuses:
- name: web
  state: {waiting: {reason: CreateContainerConfigError, message: couldn't find key password in Secret shop/web-db}}
`, &v1.Problem{Reason: v1.ReasonConfigError, Container: "web", Pods: 1, Message: `couldn't find key password in Secret shop/web-db`}},
	{"out of memory", onItsNode + `
containerStatuses:
- name: web
  restartCount: 12
  state: {waiting: {reason: CrashLoopBackOff, message: back-off 5m0s restarting failed container=web pod=web-2-x_shop(1)}}
  lastState: {terminated: {exitCode: 137, reason: OOMKilled}}
`, &v1.Problem{Reason: v1.ReasonCrashLooping, Container: "web", Pods: 1, Message: `Out of memory (OOMKilled, exit code 137). Restarted at least 10 times.`}},
	{"last words are no status", onItsNode + `
containerStatuses:
- name: web
  restartCount: 1
  state: {terminated: {exitCode: 2, reason: Error, message: "panic: password is hunter2"}}
`, &v1.Problem{Reason: v1.ReasonCrashLooping, Container: "web", Pods: 1, Message: `Exited with code 2 (Error).`}},
	{"an end without an error", onItsNode + `
containerStatuses:
- name: web
  restartCount: 3
  state: {waiting: {reason: CrashLoopBackOff, message: back-off 40s restarting failed container}}
  lastState: {terminated: {exitCode: 0, reason: Completed}}
`, &v1.Problem{Reason: v1.ReasonCrashLooping, Container: "web", Pods: 1, Message: `Exited with code 0 (Completed), but must keep running.`}},
	{"no such command", onItsNode + `
containerStatuses:
- name: web
  restartCount: 2
  state: {waiting: {reason: CrashLoopBackOff, message: back-off 20s restarting failed container}}
  lastState: {terminated: {exitCode: 128, reason: StartError, message: 'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "/srv": stat /srv: no such file or directory'}}
`, &v1.Problem{Reason: v1.ReasonStartFailed, Container: "web", Pods: 1, Message: `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "/srv": stat /srv: no such file or directory`}},
	{"init container", onItsNode + `
initContainerStatuses:
- name: migrate
  restartCount: 1
  state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s restarting failed container}}
  lastState: {terminated: {exitCode: 1, reason: Error}}
containerStatuses:
- name: web
  state: {waiting: {reason: PodInitializing}}
`, &v1.Problem{Reason: v1.ReasonInitFailed, Container: "migrate", Pods: 1, Message: `Exited with code 1 (Error).`}},
	{"probe fails", onItsNode + `
containerStatuses:
- name: web
  started: true
  state: {running: {startedAt: "2026-11-21T11:59:00Z"}}
`, &v1.Problem{Reason: v1.ReasonReadinessFailing, Container: "web", Pods: 1, Message: `Pod web-2-x is running, but not ready since 2026-11-21T11:59:00Z.`}},
	{"just started", onItsNode + `
containerStatuses:
- name: web
  started: true
  state: {running: {startedAt: "2026-11-21T11:59:55Z"}}
`, nil},
	{"unschedulable", `
phase: Pending
conditions:
- type: PodScheduled
  status: "False"
  reason: Unschedulable
  message: '0/5 nodes are available: 2 Insufficient memory, 3 node(s) didn''t match Pod''s node affinity/selector. no new claims to deallocate, preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.'
`, &v1.Problem{Reason: v1.ReasonUnschedulable, Pods: 1, Message: `0/5 nodes are available: 2 Insufficient memory, 3 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.`}},
	{"no volume", `
phase: Pending
conditions:
- {type: PodReadyToStartContainers, status: "False", lastTransitionTime: "2026-11-21T11:58:00Z"}
- {type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: "2026-11-21T11:58:00Z"}
containerStatuses:
- name: web
  state: {waiting: {reason: ContainerCreating}}
`, &v1.Problem{Reason: v1.ReasonVolumeNotMounting, Pods: 1, Message: `Scheduled, but since 2026-11-21T11:58:00Z its volumes are not mounted or its network is not ready; see the Events of the pod. A ConfigMap, Secret or claim that it mounts may be missing.`}},
	{"no volume yet", `
phase: Pending
conditions:
- {type: PodReadyToStartContainers, status: "False", lastTransitionTime: "2026-11-21T11:59:30Z"}
`, nil},
	{"node lost", `
phase: Running
conditions:
- {type: ContainersReady, status: "True", lastTransitionTime: "2026-11-21T10:00:00Z"}
- {type: Ready, status: "False", lastTransitionTime: "2026-11-21T11:59:30Z"}
containerStatuses:
- {name: web, ready: true, started: true, state: {running: {startedAt: "2026-11-21T10:00:00Z"}}}
`, &v1.Problem{Reason: v1.ReasonNodeLost, Pods: 1, Message: `The pod's node has been unreachable since 2026-11-21T11:59:30Z.`}},
	{"evicted", `
phase: Failed
reason: Evicted
message: "The node was low on resource: ephemeral-storage. Threshold quantity: 10, available: 5."
`, &v1.Problem{Reason: v1.ReasonEvicted, Pods: 1, Message: `The node was low on resource: ephemeral-storage. Threshold quantity: 10, available: 5.`}},
	{"rejected", `
phase: Failed
reason: OutOfcpu
message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 4000, used: 100, capacity: 2000"
`, &v1.Problem{Reason: v1.ReasonPodRejected, Pods: 1, Message: `Pod was rejected: Node didn't have enough resource: cpu, requested: 4000, used: 100, capacity: 2000`}},
}

func readPod(t *testing.T, status string) *child.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-2-x", OwnerReferences: controllerRef("ReplicaSet", "web-2", currentUID)},
		Spec:       corev1.PodSpec{InitContainers: []corev1.Container{{Name: "migrate"}}, Containers: []corev1.Container{{Name: "web"}}},
	}
	if err := yaml.UnmarshalStrict([]byte(status), &pod.Status); err != nil {
		t.Fatal(err)
	}
	return child.NewPod(pod)
}

func rolling(pods ...*child.Pod) Input {
	return with(withPods(0, nil), func(in *Input, d *appsv1.Deployment) {
		rollingOut(d)
		in.Snapshot.Pods = pods
	})
}

func TestProblemOfAPod(t *testing.T) {
	for _, test := range podStatuses {
		t.Run(test.name, func(t *testing.T) {
			var want []v1.Problem
			if test.want != nil {
				want = append(want, *test.want)
			}
			got := compute(rolling(readPod(t, test.status)), noon)
			if diff := cmp.Diff(want, got.Problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProblemsAreGroupedAndSorted(t *testing.T) {
	var all []*child.Pod
	for _, test := range podStatuses {
		all = append(all, readPod(t, test.status))
	}
	in := rolling(all...)
	in.Snapshot.ReplicaSets[1].Failure = `pods "web-2-abcde" is forbidden: exceeded quota: small`
	timedOut(in.Results[0].Live.(*appsv1.Deployment))
	got := []string{}
	for _, problem := range compute(in, noon).Problems {
		got = append(got, strings.TrimSpace(fmt.Sprint(problem.Pods, " ", problem.Reason, " ", problem.Container)))
	}
	want := []string{
		"2 ConfigError web", "4 ImagePullFailed web", "1 InitFailed migrate", "1 StartFailed web", "3 CrashLooping web",
		"0 QuotaExceeded", "1 Unschedulable", "1 VolumeNotMounting", "1 NodeLost", "1 ReadinessFailing web",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A pod that has just started explains a missed deadline, if nothing else does.
func TestStartingPodExplainsTheDeadline(t *testing.T) {
	got := compute(with(withPods(1, starting), func(_ *Input, d *appsv1.Deployment) { timedOut(d) }), noon)
	if len(got.Problems) != 2 || got.Problems[0].Reason != v1.ReasonReadinessFailing || got.Conditions[0].Reason != v1.ReasonReadinessFailing {
		t.Errorf("problems %+v, Ready %+v", got.Problems, got.Conditions[0])
	}
}

// Of pods that say different things the most frequent is told, and since when the first is so.
func TestOneMessageOfMany(t *testing.T) {
	unready := func(since int) *child.PodProblems {
		return &child.PodProblems{Containers: []child.Container{{Name: "web", Unready: &child.Unready{Since: at(since), Due: at(since), Probe: "GET :8080/ready"}}}}
	}
	pods := []*child.Pod{}
	for i, trouble := range []*child.PodProblems{unready(-5), unready(-60), crashing(), unready(-30), crashing()} {
		pods = append(pods, &child.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-2-%d", i)}, ReplicaSet: currentUID, Problems: trouble})
	}
	pods[2].Problems.Containers[0].Termination.ExitCode = 4
	pods = append(pods, &child.Pod{ReplicaSet: currentUID, Problems: crashing()})
	want := []v1.Problem{
		{Reason: v1.ReasonCrashLooping, Container: "web", Pods: 3, Message: "Exited with code 3 (Error)."},
		{Reason: v1.ReasonReadinessFailing, Container: "web", Pods: 3, Message: "Readiness probe GET :8080/ready has failed since 2026-11-21T11:59:00Z in pod web-2-1."},
	}
	if diff := cmp.Diff(want, compute(rolling(pods...), noon).Problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRequeueAfter(t *testing.T) {
	overdue := &child.PodProblems{Containers: []child.Container{{Name: "web", Unready: &child.Unready{Since: at(-60), Due: at(-30)}}}}
	mounting := &child.PodProblems{NotReadyToStart: new(at(-50))}
	for _, test := range []struct {
		name string
		in   Input
		want time.Duration
	}{
		{"at rest", with(withPods(3, starting)), 0},
		{"a pod starts", with(withPods(3, starting), func(_ *Input, d *appsv1.Deployment) { rollingOut(d) }), 20 * time.Second},
		{"the first of two", rolling(&child.Pod{ReplicaSet: currentUID, Problems: starting()}, &child.Pod{ReplicaSet: currentUID, Problems: mounting}), 10 * time.Second},
		{"it is overdue already", rolling(&child.Pod{ReplicaSet: currentUID, Problems: overdue}), 0},
		{"a pod of an older revision", rolling(&child.Pod{ReplicaSet: "old", Problems: starting()}), 0},
	} {
		if got := health.Assess(test.in.Snapshot, noon).RequeueAfter; got != test.want {
			t.Errorf("%s: after %s, want %s", test.name, got, test.want)
		}
	}
}
