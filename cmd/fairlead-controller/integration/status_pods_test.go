// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

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
	starting     = []string{"Available=False/MinimumReplicasUnavailable", "Progressing=True/ReplicaSetUpdated"}
	interrupted  = []string{"Available=False/MinimumReplicasUnavailable", "Progressing=True/NewReplicaSetAvailable"}
	replacing    = []string{"Available=True/MinimumReplicasAvailable", "Progressing=True/ReplicaSetUpdated"}
	changed      = []string{"Available=False/MinimumReplicasUnavailable", "Progressing=True/RollingOut"}
	timedOut     = []string{"Available=False/MinimumReplicasUnavailable", "Progressing=False/ProgressDeadlineExceeded"}
	replaceStuck = []string{"Available=True/MinimumReplicasAvailable", "Progressing=False/ProgressDeadlineExceeded"}
)

// oneReady is where most Applications end.
var oneReady = standing{
	ready: "True/Ready", kstatus: kstatus.CurrentStatus, others: serving,
	message: "1 pod is available, of the current revision.",
}

func rollingOut(message string, others []string) standing {
	return standing{ready: "False/RollingOut", also: v1.ConditionReconciling, kstatus: kstatus.InProgressStatus, message: message, others: others}
}

func deadlineExceeded(message string, others []string) standing {
	return standing{ready: "False/ProgressDeadlineExceeded", also: v1.ConditionStalled, kstatus: kstatus.FailedStatus, message: message, others: others}
}

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
	e := start(t)
	h := e.record()
	tests := map[string][]step{
		"ready": {{applySpec(""), oneReady}},
		"scaled-to-zero": {
			{applySpec("replicas: 0"), standing{
				ready: "True/ScaledToZero", kstatus: kstatus.CurrentStatus, others: serving,
				message: "No pods are asked for, and none runs.",
			}},
			{editing(func(spec *v1.ApplicationSpec) { spec.Replicas = new(int32(1)) }), oneReady},
		},
		"slow-start": {
			{applySpec("replicas: 2, " + misbehaving("slow-start")), rollingOut("All 2 pods are updated, 0 available.", starting)},
			{nil, standing{ready: "True/Ready", kstatus: kstatus.CurrentStatus, others: serving, message: "All 2 pods are available, of the current revision."}},
			{
				editing(func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" }),
				rollingOut("1 of 2 pods are updated, 2 available; 2 of an older revision.", replacing),
			},
			{nil, standing{ready: "True/Ready", kstatus: kstatus.CurrentStatus, others: serving, message: "All 2 pods are available, of the current revision."}},
		},
		"image-pull-error": {
			{applySpec("progressDeadlineSeconds: 3, " + misbehaving("image-pull-error")), rollingOut("1 pod is updated, 0 available.", starting)},
			{nil, deadlineExceeded(`has timed out progressing. 1 pod is updated, 0 available.`, timedOut)},
			{editing(behave), rollingOut("The Deployment was changed; its pods follow.", changed)},
			{nil, oneReady},
		},
		"image-pull-error-in-a-rollout": {
			{applySpec("progressDeadlineSeconds: 3"), oneReady},
			{
				editing(func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/simulate/image-pull-error:2" }),
				deadlineExceeded("has timed out progressing. 1 pod is updated, 1 available; 1 of an older revision.", replaceStuck),
			},
			{editing(func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:3" }), oneReady},
		},
		"crash-loop": {
			{applySpec("progressDeadlineSeconds: 3, " + misbehaving("crash-loop")), deadlineExceeded("1 pod is updated, 0 available.", timedOut)},
			{editing(behave), oneReady},
		},
		"readiness-failing": {
			{applySpec(misbehaving("readiness-failing")), rollingOut("1 pod is updated, 0 available.", starting)},
			{editing(behave), oneReady},
		},
		"unschedulable": {
			{applySpec("progressDeadlineSeconds: 3, nodeSelector: {" + behavior + ": unschedulable}"), deadlineExceeded("1 pod is updated, 0 available.", timedOut)},
			{editing(func(spec *v1.ApplicationSpec) { spec.NodeSelector = nil }), oneReady},
		},
		"pods-unavailable": {
			{applySpec(""), oneReady},
			{func(e *env, name string) { setPodsReady(e, name, corev1.ConditionFalse) }, standing{
				ready: "False/PodsUnavailable", also: v1.ConditionReconciling, kstatus: kstatus.InProgressStatus, others: interrupted,
				message: "0 of 1 pods are available.",
			}},
			{func(e *env, name string) { setPodsReady(e, name, corev1.ConditionTrue) }, oneReady},
		},
		"paused": {
			{applySpec("paused: true, progressDeadlineSeconds: 3"), standing{
				ready: "False/Paused", kstatus: kstatus.InProgressStatus, message: "A rollout waits for the end of the pause. 0 of 1 pods are updated, 0 available.",
				others: []string{"Available=False/MinimumReplicasUnavailable", "Progressing=Unknown/DeploymentPaused", "Paused=True/Paused"},
			}},
			{editing(func(spec *v1.ApplicationSpec) { spec.Paused = nil }), oneReady},
			{editing(func(spec *v1.ApplicationSpec) { spec.Paused = new(true) }), standing{
				ready: "True/Ready", kstatus: kstatus.CurrentStatus, message: oneReady.message,
				others: []string{"Available=True/MinimumReplicasAvailable", "Progressing=Unknown/DeploymentPaused", "Paused=True/Paused"},
			}},
			{editing(func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" }), standing{
				ready: "False/Paused", kstatus: kstatus.InProgressStatus, message: "A rollout waits for the end of the pause. 0 of 1 pods are updated, 1 available; 1 of an older revision.",
				others: []string{"Available=True/MinimumReplicasAvailable", "Progressing=Unknown/DeploymentPaused", "Paused=True/Paused"},
			}},
			{editing(func(spec *v1.ApplicationSpec) { spec.Paused = new(false) }), oneReady},
		},
		"pods-refused": {
			{applySpec("progressDeadlineSeconds: 3, serviceAccount: {name: robot}"), standing{
				ready: "False/ReplicaFailure", also: v1.ConditionReconciling, kstatus: kstatus.InProgressStatus,
				message: `error looking up service account NAMESPACE/robot: serviceaccount "robot" not found. 0 of 1 pods are updated, 0 available.`,
				others:  []string{"Available=False/MinimumReplicasUnavailable", "Progressing=True/NewReplicaSetCreated"},
			}},
			{nil, standing{
				ready: "False/ReplicaFailure", also: v1.ConditionStalled, kstatus: kstatus.FailedStatus, others: timedOut,
				message: "has timed out progressing. 0 of 1 pods are updated, 0 available.",
			}},
			{func(e *env, _ string) { e.create("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot}\n") }, oneReady},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.follow(e.sub(t), name, steps...)
		})
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
