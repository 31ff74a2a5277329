// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// watchReplicas returns the numbers of pods that the Deployment has asked for since then, each version of it included.
func (e *env) watchReplicas(name string) (seen func() []int32) {
	e.Helper()
	watcher, err := e.kube.AppsV1().Deployments(e.namespace).Watch(e.Context(), metav1.SingleObject(metav1.ObjectMeta{Name: name}))
	if err != nil {
		e.Fatalf("watch Deployments: %v", err)
	}
	var mu sync.Mutex
	var numbers []int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			if deployment, ok := event.Object.(*appsv1.Deployment); ok {
				mu.Lock()
				numbers = append(numbers, *deployment.Spec.Replicas)
				mu.Unlock()
			}
		}
	}()
	e.Cleanup(func() {
		watcher.Stop()
		<-done
	})
	return func() []int32 {
		mu.Lock()
		defer mu.Unlock()
		return slices.Compact(slices.Clone(numbers))
	}
}

// TestReplicasAreHandedOver gives the number of pods from the spec to an autoscaler, back, to no owner, and to an autoscaler
// that would not scale up a Deployment without pods. No version of the Deployment has another number than intended.
func TestReplicasAreHandedOver(t *testing.T) {
	t.Parallel()
	e := start(t)
	seen, h := e.watchReplicas("web"), e.record()
	autoscaled := func(spec *v1.ApplicationSpec) {
		spec.Replicas = nil
		spec.Autoscaling = &v1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 8, TargetCPUUtilizationPercentage: new(int32(70))}
	}
	fixed := func(replicas *int32) func(*v1.ApplicationSpec) {
		return func(spec *v1.ApplicationSpec) { spec.Autoscaling, spec.Replicas = nil, replicas }
	}
	scale := func(replicas int) {
		e.patch(child.Deployment, "web", types.MergePatchType, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas), "scale")
	}
	applySpec("replicas: 5, resources: {requests: {cpu: 10m}}")(e, "web")
	e.waitReady("web")

	e.editSpec("web", autoscaled)
	e.waitReady("web")
	if target := get[autoscalingv2.HorizontalPodAutoscaler](e, "web").Spec.ScaleTargetRef; target.Kind != "Deployment" || target.Name != "web" {
		t.Errorf("the autoscaler scales %+v", target)
	}
	// There are no metrics here, so this is what it would write. A change of the pods keeps it.
	scale(7)
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })
	e.waitReady("web")

	e.editSpec("web", fixed(new(int32(6))))
	e.waitReady("web")
	if find[autoscalingv2.HorizontalPodAutoscaler](e, "web") != nil {
		t.Error("the autoscaler is still there")
	}
	scale(9) // It is the spec's now: drift.
	e.waitEvent("web", v1.EventDriftRepaired, child.Deployment.Kind, "web")
	e.waitReady("web")

	e.editSpec("web", fixed(nil))
	e.waitReady("web")
	scale(4) // It is nobody's: kubectl scale works.
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:3" })
	e.waitReady("web")

	e.editSpec("web", fixed(new(int32(0))))
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonScaledToZero)
	e.editSpec("web", autoscaled)
	e.waitApplication("web", "two pods", func(a *v1.Application) bool { return a.Status.AvailableReplicas == 2 })

	for _, v := range h.of("web", 0) {
		if stalled := meta.FindStatusCondition(v.Status.Conditions, v1.ConditionStalled); stalled != nil {
			t.Errorf("Stalled, although Fairlead scaled to 0 and up again: %s: %s", stalled.Reason, stalled.Message)
		}
	}
	want := []int32{5, 7, 6, 9, 6, 4, 0, 2}
	e.eventually(fmt.Sprintf("the Deployment has asked for %d", want), func() (bool, string) {
		got := seen()
		return slices.Equal(got, want), fmt.Sprint(got)
	})
}

// TestBudgetFollowsOpenReplicas: another client scales the Deployment, and its pods have a budget while there are several.
func TestBudgetFollowsOpenReplicas(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(specOf("web", ""))
	e.waitReady("web")
	if find[policyv1.PodDisruptionBudget](e, "web") != nil {
		t.Error("a single pod has a budget")
	}
	for _, replicas := range []int{3, 1} {
		e.patch(child.Deployment, "web", types.MergePatchType, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas), "scale")
		e.eventually(fmt.Sprintf("%d pods have the budget that they need", replicas), func() (bool, string) {
			budget := find[policyv1.PodDisruptionBudget](e, "web")
			return (budget != nil) == (replicas > 1), fmt.Sprintf("a budget: %t", budget != nil)
		})
	}
}
