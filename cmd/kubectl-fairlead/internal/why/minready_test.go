// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestNotYetAvailable: a pod that is ready, and has not been so for minReadySeconds, is neither late nor broken.
func TestNotYetAvailable(t *testing.T) {
	const (
		headline = "default/cart is not ready (RollingOut): pods that are ready do not count as available yet.\n"
		one      = "Pod cart-7d5578bdff-t8dmc is ready, and counts as available once it has been ready for 30 s (minReadySeconds).\n" +
			"   - Pod/cart-7d5578bdff-t8dmc status.conditions[Ready], True for 12s\n"
		two = "2 pods are ready, and count as available once they have been ready for 30 s (minReadySeconds).\n" +
			"   - Pod/cart-7d5578bdff-t8dmc status.conditions[Ready], True for 12s\n   - Pod/"
		all = "minReadySeconds"
	)
	for _, test := range []struct {
		name                        string
		seconds, ready, unavailable int32
		want                        map[string]bool
	}{
		{"one", 30, 3, 1, map[string]bool{headline: true, one: true}},
		{"two", 30, 3, 2, map[string]bool{headline: true, two: true}},
		{"one is not ready", 30, 2, 1, map[string]bool{all: false}},
		{"no such time", 0, 3, 1, map[string]bool{all: false}},
	} {
		loaded := clustertest.Load(t, "healthy")
		meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonRollingOut})
		deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
		deployment.Spec.MinReadySeconds = test.seconds
		deployment.Status.ReadyReplicas, deployment.Status.AvailableReplicas = test.ready, 3-test.unavailable
		for _, pod := range loaded.Pods {
			for i := range pod.Status.Conditions {
				if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady && pod.Name == "cart-7d5578bdff-t8dmc" {
					condition.LastTransitionTime = metav1.NewTime(treetest.Now.Add(-12 * time.Second))
				}
			}
		}
		text, _ := printed(t, loaded)
		wantParts(t, test.name, text, test.want)
	}
}
