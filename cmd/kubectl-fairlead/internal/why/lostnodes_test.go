// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// lose makes the node of a pod unreachable.
func lose(pod *corev1.Pod, tolerations ...corev1.Toleration) {
	since := metav1.NewTime(treetest.Now)
	pod.Spec.Tolerations = tolerations
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: since},
		{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: since},
	}
}

// lostInPause is a paused rollout with new pods beside three old ones.
func lostInPause(t *testing.T, updated int) *cluster.Loaded {
	t.Helper()
	loaded := clustertest.Load(t, "crash")
	loaded.Application.Spec.Paused = new(true)
	status := &loaded.Application.Status
	status.Revision = &v1.RevisionStatus{Current: 2, LastHealthy: 1}
	status.Replicas, status.UpdatedReplicas, status.AvailableReplicas, status.DesiredReplicas = int32(3+updated), int32(updated), 0, 3
	meta.RemoveStatusCondition(&status.Conditions, v1.ConditionRolledBack)
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1.ConditionStalled, Status: metav1.ConditionFalse, Reason: v1.ReasonPaused})
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1.ConditionPaused, Status: metav1.ConditionTrue, Reason: v1.ReasonPaused})
	ready := meta.FindStatusCondition(status.Conditions, v1.ConditionReady)
	ready.Reason, ready.Message = v1.ReasonPaused, "Rollout paused by spec.paused."
	deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
	deployment.Annotations[child.RevisionAnnotation] = former(loaded).Annotations[child.RevisionAnnotation]
	for range updated {
		added := loaded.Pods[0].DeepCopy()
		added.Name, added.OwnerReferences[0].UID = "web-new", former(loaded).UID
		loaded.Pods = append(loaded.Pods, added)
	}
	return loaded
}

// TestLostWhilePaused: to resume the rollout brings no node back, and the pods of the older revision are lost too.
func TestLostWhilePaused(t *testing.T) {
	const (
		resume   = "crash/web is not ready (Paused): it waits until you resume it"
		helpless = resume + ", but that does not help against NodeLost.\n"
		check    = "   → Kubernetes replaces the pods after 5 minutes. Check the node: kubectl get nodes\n"
	)
	for _, test := range []struct {
		name          string
		updated, lost int
		problem       bool
		want          map[string]bool
	}{
		{"all", 1, 4, true, map[string]bool{helpless: true, check: true, "This concerns 4 of 4 pods, 3 of them of an older revision.": true, "its only new pod": false, "undo": false}},
		{"the new one", 1, 1, true, map[string]bool{helpless: true, check: true, "This concerns its only new pod. 3 pods of an older revision": true, "undo": false}},
		{"all, before the first new one", 0, 3, false, map[string]bool{helpless: true, check: true, "This concerns 3 of 3 pods, of an older revision.": true, "Pod/web-": true}},
		{"none", 0, 0, false, map[string]bool{resume + ", and no pod is available.\n": true, "unreachable": false}},
	} {
		loaded := lostInPause(t, test.updated)
		for _, pod := range loaded.Pods[len(loaded.Pods)-test.lost:] {
			lose(pod)
		}
		if test.problem {
			loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonNodeLost, Message: "Unreachable.", Pods: int32(test.updated)}}
		}
		wantParts(t, test.name, shown(t, loaded), test.want)
	}
	// The controller says so too, and before the first new pod all pods are of the present ReplicaSet.
	loaded := lostInPause(t, 0)
	for _, pod := range loaded.Pods {
		lose(pod)
	}
	deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
	present := slices.IndexFunc(loaded.ReplicaSets, func(r *appsv1.ReplicaSet) bool { return r.Status.Replicas > 0 })
	deployment.Annotations[child.RevisionAnnotation] = loaded.ReplicaSets[present].Annotations[child.RevisionAnnotation]
	status := &loaded.Application.Status
	status.Problems = []v1.Problem{{Reason: v1.ReasonNodeLost, Message: "Unreachable.", Pods: 3}}
	meta.FindStatusCondition(status.Conditions, v1.ConditionReady).Reason = v1.ReasonNodeLost
	wantParts(t, "as Ready says", shown(t, loaded), map[string]bool{
		"crash/web is not ready (NodeLost). Its rollout waits until you resume it, but that does not help against NodeLost.\n": true,
		"1. The node of some pods is unreachable. This concerns 3 of 3 pods.\n":                                                true, check: true,
		"2. A rollout waits, because rollouts are paused.\n": true, "   → Go on: kubectl fairlead resume web\n": true, "3. ": false,
	})
	loaded = lostInPause(t, 1)
	loaded.Application.Status.AvailableReplicas = 2
	wantParts(t, "fewer", shown(t, loaded), map[string]bool{resume + ", and only 2 of 3 pods are available.\n": true})
	loaded.Application.Status.AvailableReplicas = 3
	wantParts(t, "as many", shown(t, loaded), map[string]bool{resume + ".\n": true})
}

// TestLostPodsAreReplaced when their tolerations end.
func TestLostPodsAreReplaced(t *testing.T) {
	toleration := func(key string, seconds int64) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
	}
	both := func(seconds int64) []corev1.Toleration {
		return []corev1.Toleration{toleration(corev1.TaintNodeUnreachable, seconds), toleration(corev1.TaintNodeNotReady, seconds)}
	}
	for want, tolerations := range map[string][]corev1.Toleration{
		"Kubernetes replaces the pods after 5 minutes.":                                    nil,
		"Kubernetes replaces the pods after 1 hour.":                                       both(3600),
		"Kubernetes replaces the pods after 1 minute.":                                     both(60),
		"Kubernetes replaces the pods after 90 seconds.":                                   both(90),
		"Kubernetes replaces the pods at once.":                                            both(0),
		"Kubernetes does not replace the pods, because they tolerate that without an end.": {{Operator: corev1.TolerationOpExists}},
		"Kubernetes does not replace the pods if the node is unreachable, because they tolerate that without an end. Kubernetes replaces the pods after 5 minutes if the node says that it is not ready.": {{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists}},
	} {
		for _, live := range []bool{true, false} {
			loaded := clustertest.Load(t, "crash")
			loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonNodeLost, Message: "Unreachable.", Pods: 1}}
			deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
			if deployment.Spec.Template.Spec.Tolerations = tolerations; live {
				lose(loaded.Pods[0], tolerations...)
				deployment.Spec.Template.Spec.Tolerations = nil
			}
			found := why.Explain(loaded).Findings
			i := slices.IndexFunc(found, func(finding why.Finding) bool { return finding.Reason == v1.ReasonNodeLost })
			if whole := want + " Check the node: kubectl get nodes"; i < 0 || !slices.Equal(found[i].Next, []string{whole}) {
				t.Errorf("from a pod %t: %+v, want %q", live, found, whole)
			}
		}
	}
}
