// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// lostPods are the pods on nodes that are unreachable, and how many of them are of a revision that the Deployment replaces.
func (f facts) lostPods() (lost []*corev1.Pod, former int32) {
	snapshot := f.Snapshot()
	for i, pod := range f.Pods {
		if problems := snapshot.Pods[i].Problems; problems == nil || problems.NodeUnreachable == nil {
			continue
		}
		lost = append(lost, pod)
		if f.ofFormer(pod) {
			former++
		}
	}
	return lost, former
}

// extentOfLost says which pods are on nodes that are unreachable; "" if all are of the present revision, which status.problems counts.
func (f facts) extentOfLost() string {
	lost, former := f.lostPods()
	if former == 0 {
		return ""
	}
	number, which := int32(len(lost)), olderOf(f.app.Status.Revision)
	all := max(number, f.app.Status.Replicas)
	switch {
	case all == 1:
		return " This concerns its only pod, of " + which + " revision."
	case former < number:
		return fmt.Sprintf(" This concerns %d of %d pods, %d of them of %s revision.", number, all, former, which)
	default:
		return fmt.Sprintf(" This concerns %d of %d pods, of %s revision.", number, all, which)
	}
}

// lostFormer explains pods of an older revision on nodes that are unreachable, if no pod of the present one says so: a paused rollout keeps
// them.
func lostFormer(f facts) []Finding {
	isLost := func(problem v1.Problem) bool { return problem.Reason == v1.ReasonNodeLost }
	if f.ready == nil || f.ready.Reason != v1.ReasonPaused || !f.observed() || slices.ContainsFunc(f.app.Status.Problems, isLost) {
		return nil
	}
	lost, former := f.lostPods()
	if former == 0 {
		return nil
	}
	known := f.aboutNodes(v1.Problem{Reason: v1.ReasonNodeLost}, podAdvice[v1.ReasonNodeLost])
	finding := Finding{Reason: v1.ReasonNodeLost, What: known.what + f.extentOfLost() + f.former().text(f.app.Status.Revision), Next: known.next}
	for _, condition := range lost[0].Status.Conditions {
		if condition.Type == corev1.PodReady {
			finding.Evidence = []Evidence{{
				Object: "Pod/" + lost[0].Name, Field: "status.conditions[Ready]", Message: condition.Message,
				Time: &condition.LastTransitionTime.Time, status: metav1.ConditionStatus(condition.Status),
			}}
		}
	}
	return []Finding{finding}
}

// replacesLost says when Kubernetes replaces the pods of a lost node: the tolerations of the pods decide. A toleration that they lack,
// Kubernetes adds.
func (f facts) replacesLost() string {
	tolerations := []corev1.Toleration{}
	if lost, _ := f.lostPods(); len(lost) > 0 {
		tolerations = lost[0].Spec.Tolerations
	} else if deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name); deployment != nil {
		tolerations = deployment.Spec.Template.Spec.Tolerations
	}
	unreachable := tolerated(tolerations, corev1.TaintNodeUnreachable)
	notReady := tolerated(tolerations, corev1.TaintNodeNotReady)
	if unreachable == notReady {
		return replaces(unreachable, "") + "."
	}
	return replaces(unreachable, " if the node is unreachable") + ". " + replaces(notReady, " if the node says that it is not ready") + "."
}

// never stands for a toleration without an end.
const never = -1

// tolerated is for how many seconds pods with the tolerations stay on a node with the taint. The first that fits counts.
func tolerated(tolerations []corev1.Toleration, taint string) int64 {
	for _, t := range tolerations {
		fits := t.Key == taint || t.Key == "" && t.Operator == corev1.TolerationOpExists
		switch {
		case !fits || t.Effect != "" && t.Effect != corev1.TaintEffectNoExecute || t.Operator != corev1.TolerationOpExists && t.Value != "":
		case t.TolerationSeconds == nil:
			return never
		default:
			return max(*t.TolerationSeconds, 0)
		}
	}
	return 300 // Kubernetes adds it.
}

// replaces says when, as the beginning of a sentence.
func replaces(seconds int64, where string) string {
	const minute, hour = 60, 3600
	after := func(number int64, unit string) string {
		if number != 1 {
			unit += "s"
		}
		return fmt.Sprintf("Kubernetes replaces the pods after %d %s", number, unit) + where
	}
	switch {
	case seconds == never:
		return "Kubernetes does not replace the pods" + where + ", because they tolerate that without an end"
	case seconds == 0:
		return "Kubernetes replaces the pods at once" + where
	case seconds%hour == 0:
		return after(seconds/hour, "hour")
	case seconds%minute == 0:
		return after(seconds/minute, "minute")
	default:
		return after(seconds, "second")
	}
}
