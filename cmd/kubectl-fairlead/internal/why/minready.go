// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// reasonNotYetAvailable is the reason of notYetAvailable.
const reasonNotYetAvailable = "NotYetAvailable"

// notYetAvailable explains pods that are ready, but have not been so for minReadySeconds. They are those that became ready last.
func notYetAvailable(f facts) []Finding {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil || !child.OwnedBy(deployment, f.app) || !f.observed() || deployment.Spec.MinReadySeconds == 0 {
		return nil
	}
	const mostShown = 3
	young := int(deployment.Status.ReadyReplicas - deployment.Status.AvailableReplicas)
	var evidence []Evidence
	for _, pod := range f.Pods {
		if since := readySince(pod); since != nil && pod.DeletionTimestamp == nil {
			evidence = append(evidence, Evidence{Object: "Pod/" + pod.Name, Field: "status.conditions[" + string(corev1.PodReady) + "]", Time: since, status: metav1.ConditionTrue})
		}
	}
	slices.SortStableFunc(evidence, func(a, b Evidence) int { return b.Time.Compare(*a.Time) })
	if young <= 0 || len(evidence) == 0 {
		return nil
	}
	evidence = evidence[:min(young, len(evidence), mostShown)]
	what := fmt.Sprintf("%d pods are ready, and count as available once they have been ready", young)
	if young == 1 {
		what = strings.Replace(evidence[0].Object, "/", " ", 1) + " is ready, and counts as available once it has been ready"
	}
	return []Finding{{
		Reason: reasonNotYetAvailable, Evidence: evidence,
		What: fmt.Sprintf("%s for %d s (minReadySeconds).", what, deployment.Spec.MinReadySeconds),
	}}
}

// readySince is when the pod became ready; nil if it is not.
func readySince(pod *corev1.Pod) *time.Time {
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return &condition.LastTransitionTime.Time
		}
	}
	return nil
}
