// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const behavior = "simulate.fairlead.dev/behavior"

// The conditions that come from the Deployment.
var (
	serving      = []string{"Available=True/MinimumReplicasAvailable", "Progressing=True/NewReplicaSetAvailable"}
	starting     = []string{"Available=False/MinimumReplicasUnavailable", "Progressing=" + progresses}
	replacing    = []string{"Available=True/MinimumReplicasAvailable", "Progressing=" + progresses}
	changed      = []string{"Available=False/MinimumReplicasUnavailable", "Progressing=True/RollingOut"}
	replaceStuck = []string{"Available=True/MinimumReplicasAvailable", "Progressing=False/ProgressDeadlineExceeded"}
)

// oneReady is where most Applications end.
var oneReady = standing{
	ready: "True/Ready", kstatus: kstatus.CurrentStatus, others: serving,
	message: "1 pod is available at revision ",
}

func rollingOut(message string, others []string) standing {
	return standing{ready: "False/RollingOut", also: v1.ConditionReconciling, kstatus: kstatus.InProgressStatus, message: message, others: others}
}

// The stages of a rollout, where the pods give the reason of Ready.
const (
	stillRolling = v1.ConditionReconciling + "/" + v1.ReasonRollingOut
	wasComplete  = v1.ConditionReconciling + "/" + v1.ReasonPodsUnavailable
	neverWorked  = v1.ConditionStalled + "/" + v1.ReasonProgressDeadlineExceeded
)

// because is one that is not ready because of its pods.
func because(reason, stage, message string, others ...string) standing {
	s := standing{ready: "False/" + reason, also: stage, kstatus: kstatus.InProgressStatus, message: message, others: others}
	if stage == neverWorked {
		s.kstatus = kstatus.FailedStatus
	}
	return s
}

// The conditions that come from the Deployment, where its pods have a reason.
func notServing(reason, progressing string) []string {
	return []string{"Available=False/" + reason, "Progressing=" + progressing}
}

const (
	// The first pods of a revision are there before or after the Deployment controller says that they progress.
	progresses = "True/NewReplicaSetCreated|ReplicaSetUpdated"
	isLate     = "False/ProgressDeadlineExceeded"
)

// applySpec makes an Application with one pod, unless the spec (in YAML's flow style) says more.
func applySpec(spec string) func(*env, string) {
	return func(e *env, name string) {
		e.Helper()
		e.create(fmt.Sprintf("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: %s}\nspec: {image: registry.example.com/web:1, %s}\n", name, spec))
	}
}

func editing(change func(*v1.ApplicationSpec)) func(*env, string) {
	return func(e *env, name string) {
		e.Helper()
		e.editSpec(name, change)
	}
}

func misbehaving(how string) string {
	return fmt.Sprintf("podMetadata: {annotations: {%s: %s}}", behavior, how)
}

// behave takes the misbehaviour away.
func behave(spec *v1.ApplicationSpec) { spec.PodMetadata = nil }

// TestStatusOfPods tries every reason of Ready that the pods give, with pods that really are so.
func TestStatusOfPods(t *testing.T) {
	t.Parallel()
	e := start(t, unreviewedAccounts)
	h := e.record()
	tests := map[string][]step{
		"ready": {{applySpec(""), oneReady}},
		"scaled-to-zero": {
			{applySpec("replicas: 0"), standing{
				ready: "True/ScaledToZero", kstatus: kstatus.CurrentStatus, others: serving,
				message: "Scaled to zero.",
			}},
			{editing(func(spec *v1.ApplicationSpec) { spec.Replicas = new(int32(1)) }), oneReady},
		},
		"slow-start": {
			{applySpec("replicas: 2, " + misbehaving("slow-start")), rollingOut("All 2 pods are updated, 0 available.", starting)},
			{nil, standing{ready: "True/Ready", kstatus: kstatus.CurrentStatus, others: serving, message: "All 2 pods are available at revision "}},
			{
				editing(func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" }),
				rollingOut("1 of 2 pods are updated, 2 available; 2 of an older revision.", replacing),
			},
			{nil, standing{ready: "True/Ready", kstatus: kstatus.CurrentStatus, others: serving, message: "All 2 pods are available at revision "}},
		},
		"image-pull-error": {
			{applySpec("progressDeadlineSeconds: 5, " + misbehaving("image-pull-error")), because("ImagePullFailed", stillRolling,
				`1 pod, container image-pull-error: failed to pull and unpack image "registry.example.com/web:1": failed to resolve reference`,
				notServing("ImagePullFailed", progresses)...)},
			{problem("ImagePullFailed", "image-pull-error", "registry.example.com/web:1: not found"), because("ImagePullFailed", neverWorked,
				`has timed out progressing. 1 pod is updated, 0 available.`, notServing("ImagePullFailed", isLate)...)},
			{editing(behave), rollingOut("The Deployment was changed; rolling out.", changed)},
			{nil, oneReady},
		},
		"image-pull-error-in-a-rollout": {
			{applySpec("progressDeadlineSeconds: 3"), oneReady},
			{
				editing(func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/simulate/image-pull-error:2" }),
				because("ImagePullFailed", neverWorked, "has timed out progressing. 1 pod is updated, 1 available; 1 of an older revision.", replaceStuck...),
			},
			{editing(func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:3" }), oneReady},
		},
		"crash-loop": {
			{applySpec("progressDeadlineSeconds: 5, replicas: 2, " + misbehaving("crash-loop")), because("CrashLooping", stillRolling,
				"All 2 pods, container crash-loop: Exited with code 1 (Error). All 2 pods are updated, 0 available.", notServing("CrashLooping", progresses)...)},
			{nil, because("CrashLooping", neverWorked, "All 2 pods are updated, 0 available.", notServing("CrashLooping", isLate)...)},
			{editing(func(spec *v1.ApplicationSpec) { behave(spec); spec.Replicas = new(int32(1)) }), oneReady},
		},
		"readiness-failing": {
			{applySpec(misbehaving("readiness-failing")), rollingOut("1 pod is updated, 0 available.", starting)},
			{nil, because("ReadinessFailing", stillRolling, "1 pod, container readiness-failing: Pod readiness-failing-", notServing("ReadinessFailing", progresses)...)},
			{editing(behave), oneReady},
		},
		"unschedulable": {
			{applySpec("progressDeadlineSeconds: 5, nodeSelector: {" + behavior + ": unschedulable}"), because("Unschedulable", stillRolling,
				"1 pod: 0/", notServing("Unschedulable", progresses)...)},
			{nil, because("Unschedulable", neverWorked, "1 pod is updated, 0 available.", notServing("Unschedulable", isLate)...)},
			{editing(func(spec *v1.ApplicationSpec) { spec.NodeSelector = nil }), oneReady},
		},
		// What a kubelet says of a key that is missing; a behaviour that is unknown is told in the same way.
		"config-error": {
			{applySpec(misbehaving("no-such-behavior")), because("ConfigError", stillRolling,
				`container config-error: simulate.fairlead.dev/behavior: "no-such-behavior" is unknown`, notServing("ConfigError", progresses)...)},
			{editing(behave), oneReady},
		},
		"one-of-two-crashes": {
			{applySpec("replicas: 2"), allReady(2)},
			{func(e *env, name string) { crashOne(e, name) }, because("CrashLooping", wasComplete,
				"1 of 2 pods, container one-of-two-crashes: Out of memory (OOMKilled, exit code 137). 1 of 2 pods are available.",
				"Available=False/CrashLooping", "Progressing=True/NewReplicaSetAvailable")},
			{func(e *env, name string) { setPodsReady(e, name, corev1.ConditionTrue) }, allReady(2)},
		},
		"node-lost": {
			{applySpec(""), oneReady},
			// Not ready, although its kubelet said so of all containers: this is what becomes of the pods of a lost node.
			{func(e *env, name string) { setPodsReady(e, name, corev1.ConditionFalse) }, because("NodeLost", wasComplete,
				"1 pod: The pod's node has been unreachable since 20", "Available=False/NodeLost", "Progressing=True/NewReplicaSetAvailable")},
			{func(e *env, name string) { setPodsReady(e, name, corev1.ConditionTrue) }, oneReady},
		},
		// As a kubelet says it while it waits for a volume: the pod has a node, and no sandbox.
		"volume-not-mounting": {
			{applySpec(""), oneReady},
			{holdVolumes, because("VolumeNotMounting", wasComplete,
				"1 pod: Scheduled, but since 20", "Available=False/VolumeNotMounting", "Progressing=True/NewReplicaSetAvailable")},
			{func(e *env, name string) { setPodsReady(e, name, corev1.ConditionTrue) }, oneReady},
		},
		"paused": {
			{applySpec("paused: true, progressDeadlineSeconds: 3"), standing{
				ready: "False/Paused", kstatus: kstatus.InProgressStatus, message: "Rollout paused by spec.paused. 0 of 1 pods are updated, 0 available.",
				others: []string{"Available=False/MinimumReplicasUnavailable", "Progressing=Unknown/DeploymentPaused", "Paused=True/Paused"},
			}},
			{editing(func(spec *v1.ApplicationSpec) { spec.Paused = nil }), oneReady},
			{editing(func(spec *v1.ApplicationSpec) { spec.Paused = new(true) }), standing{
				ready: "True/Ready", kstatus: kstatus.CurrentStatus, message: oneReady.message,
				others: []string{"Available=True/MinimumReplicasAvailable", "Progressing=Unknown/DeploymentPaused", "Paused=True/Paused"},
			}},
			{editing(func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" }), standing{
				ready: "False/Paused", kstatus: kstatus.InProgressStatus, message: "Rollout paused by spec.paused. 0 of 1 pods are updated, 1 available; 1 of an older revision.",
				others: []string{"Available=True/MinimumReplicasAvailable", "Progressing=Unknown/DeploymentPaused", "Paused=True/Paused"},
			}},
			{editing(func(spec *v1.ApplicationSpec) { spec.Paused = new(false) }), oneReady},
		},
		"pods-refused": {
			{applySpec("progressDeadlineSeconds: 3, serviceAccount: {name: robot}"), because("ReplicaFailure", stillRolling,
				`Error looking up service account NAMESPACE/robot: serviceaccount "robot" not found. 0 of 1 pods are updated, 0 available.`,
				"Available=False/ReplicaFailure", "Progressing=True/NewReplicaSetCreated")},
			{nil, because("ReplicaFailure", neverWorked, "has timed out progressing. 0 of 1 pods are updated, 0 available.", notServing("ReplicaFailure", isLate)...)},
			{func(e *env, _ string) { e.create("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot}\n") }, oneReady},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			noProblems(e.sub(t), h.follow(e.sub(t), name, steps...))
		})
	}
}

// TestOldPodsDoNotCount replaces pods that crash by pods that take their time: from then on no version of
// the Application may speak of a crash.
func TestOldPodsDoNotCount(t *testing.T) {
	t.Parallel()
	e := start(t)
	h := e.record()
	h.follow(
		e, "web",
		step{applySpec(misbehaving("crash-loop")), because("CrashLooping", stillRolling, "Exited with code 1", notServing("CrashLooping", progresses)...)},
		step{editing(func(spec *v1.ApplicationSpec) { misbehave(spec, "slow-start") }), oneReady},
	)
	rolling := 0
	for _, v := range h.of("web", 0) {
		if v.Generation < 2 || v.Status.ObservedGeneration < 2 {
			continue
		}
		rolling++
		if len(v.Status.Problems) > 0 {
			t.Errorf("the new revision is blamed: %+v", v.Status.Problems)
		}
	}
	// One while it rolls, and the last one; how many more depends on how quick the pods are.
	if rolling < 2 {
		t.Errorf("only %d versions of a rollout were seen", rolling)
	}
}

func allReady(pods int) standing {
	return standing{
		ready: "True/Ready", kstatus: kstatus.CurrentStatus, others: serving,
		message: fmt.Sprintf("All %d pods are available at revision ", pods),
	}
}

func misbehave(spec *v1.ApplicationSpec, how string) {
	spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{behavior: how}}
}

// problem wants the worst problem to be this one, on one pod.
func problem(reason, container, message string) func(*env, string) {
	return func(e *env, name string) {
		e.Helper()
		e.waitApplication(name, "its problem is "+reason, func(application *v1.Application) bool {
			problems := application.Status.Problems
			return len(problems) > 0 && problems[0].Reason == reason && problems[0].Container == container &&
				problems[0].Pods == 1 && strings.Contains(problems[0].Message, message)
		})
	}
}

// noProblems wants the list of problems to be empty.
func noProblems(e *env, v version) {
	e.Helper()
	if problems := v.Status.Problems; len(problems) > 0 {
		e.Errorf("the Application serves, but has problems: %+v", problems)
	}
}

// crashOne lets the kubelet say of one pod that its container was killed a second time.
func crashOne(e *env, name string) {
	e.Helper()
	unreadyPod(e, name, func(pod *corev1.Pod) {
		now := metav1.Now()
		killed := &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", StartedAt: now, FinishedAt: now}
		status := &pod.Status.ContainerStatuses[0]
		status.RestartCount = 1
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s restarting failed container"}}
		status.LastTerminationState = corev1.ContainerState{Terminated: killed}
	})
}

// holdVolumes lets the kubelet say that the pod has not got its volumes for longer than that may take.
func holdVolumes(e *env, name string) {
	e.Helper()
	unreadyPod(e, name, func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodPending
		startable := func(c corev1.PodCondition) bool { return c.Type == corev1.PodReadyToStartContainers }
		pod.Status.Conditions = append(slices.DeleteFunc(pod.Status.Conditions, startable), corev1.PodCondition{
			Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(time.Now().Add(-2 * time.Minute)),
		})
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	})
}

// unreadyPod makes the first pod not ready, nor its container, and says of it what say adds.
func unreadyPod(e *env, name string, say func(*corev1.Pod)) {
	e.Helper()
	pods, err := e.kube.CoreV1().Pods(e.namespace).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + name})
	if err != nil || len(pods.Items) == 0 {
		e.Fatalf("list pods: %v, found %d", err, len(pods.Items))
	}
	pod := &pods.Items[0]
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionFalse, "ContainersNotReady", metav1.Now()
		}
	}
	pod.Status.ContainerStatuses[0].Ready, pod.Status.ContainerStatuses[0].Started = false, new(false)
	say(pod)
	if _, err := e.kube.CoreV1().Pods(e.namespace).UpdateStatus(e.Context(), pod, metav1.UpdateOptions{}); err != nil {
		e.Fatalf("update the status of pod %s: %v", pod.Name, err)
	}
}

// setPodsReady changes what the kubelet would say of the pods.
func setPodsReady(e *env, name string, ready corev1.ConditionStatus) {
	e.Helper()
	pods, err := e.kube.CoreV1().Pods(e.namespace).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + name})
	if err != nil || len(pods.Items) == 0 {
		e.Fatalf("list pods: %v, found %d", err, len(pods.Items))
	}
	body := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":%q}]}}`, ready)
	for _, pod := range pods.Items {
		if _, err := e.kube.CoreV1().Pods(e.namespace).Patch(e.Context(), pod.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status"); err != nil {
			e.Fatalf("patch the status of pod %s: %v", pod.Name, err)
		}
	}
}
