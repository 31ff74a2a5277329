// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	autoscaled = "\n  resources: {requests: {cpu: 10m}}\n  autoscaling: {minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 60}\n"
	unset      = "\n  minReadySeconds: 0\n"
)

func fixed(replicas int) string { return fmt.Sprintf("\n  replicas: %d\n", replicas) }

func fromTo(least, most int) string {
	return fmt.Sprintf("\n  resources: {requests: {cpu: 10m}}\n  autoscaling: {minReplicas: %d, maxReplicas: %d, targetCPUUtilizationPercentage: 60}\n", least, most)
}

// TestReplicasChangeHands changes who decides the number of pods, and watches the Deployment all
// the time: on the way no number may be seen that nobody asked for, not even for a moment,
// because pods die of it.
func TestReplicasChangeHands(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, test := range []struct {
		name  string
		first string // the spec at first
		scale int32  // what a person, or the autoscaler, then sets; -1: nothing
		next  string // the spec then
		// seen are the numbers that the Deployment has in turn.
		seen []int32
		hpa  bool // in the end
	}{
		{name: "fixed-autoscaled", first: fixed(3), scale: -1, next: autoscaled, seen: []int32{3}, hpa: true},
		{name: "fixed-below-autoscaled", first: fixed(1), scale: -1, next: autoscaled, seen: []int32{1, 2}, hpa: true},
		{name: "fixed-above-autoscaled", first: fixed(4), scale: -1, next: fromTo(1, 3), seen: []int32{4, 3}, hpa: true},
		{name: "fixed-0-autoscaled", first: fixed(0), scale: -1, next: autoscaled, seen: []int32{0, 2}, hpa: true},
		{name: "fixed-unset", first: fixed(3), scale: -1, next: unset, seen: []int32{3}},
		{name: "fixed-0-unset", first: fixed(0), scale: -1, next: unset, seen: []int32{0}},
		{name: "fixed-fixed", first: fixed(3), scale: -1, next: fixed(2), seen: []int32{3, 2}},
		{name: "unset-fixed", first: unset, scale: -1, next: fixed(3), seen: []int32{1, 3}},
		{name: "unset-scaled-unset", first: unset, scale: 3, next: unset + "\n  workingDir: /srv\n", seen: []int32{1, 3}},
		{name: "unset-scaled-autoscaled", first: unset, scale: 4, next: autoscaled, seen: []int32{1, 4}, hpa: true},
		{name: "unset-0-autoscaled", first: unset, scale: 0, next: autoscaled, seen: []int32{1, 0, 2}, hpa: true},
		{name: "unset-scaled-fixed", first: unset, scale: 4, next: fixed(2), seen: []int32{1, 4, 2}},
		{name: "autoscaled-scaled-autoscaled", first: autoscaled, scale: 4, next: fromTo(2, 6), seen: []int32{2, 4}, hpa: true},
		{name: "autoscaled-scaled-fixed", first: autoscaled, scale: 4, next: fixed(3), seen: []int32{2, 4, 3}},
		{name: "autoscaled-scaled-unset", first: autoscaled, scale: 4, next: unset, seen: []int32{2, 4}},
		{name: "autoscaled-0-autoscaled", first: autoscaled, scale: 0, next: fromTo(3, 6), seen: []int32{2, 0}, hpa: true},
		{name: "autoscaled-scaled-no-room", first: autoscaled, scale: 4, next: fromTo(3, 3), seen: []int32{2, 4, 3}},
		{name: "no-room-autoscaled", first: fromTo(3, 3), scale: -1, next: autoscaled, seen: []int32{3}, hpa: true},
		{name: "no-room-0-autoscaled", first: fromTo(0, 0), scale: -1, next: autoscaled, seen: []int32{0, 2}, hpa: true},
		{name: "no-room-unset", first: fromTo(3, 3), scale: -1, next: unset, seen: []int32{3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := e.sub(t)
			name := test.name
			recorded := e.recordReplicas(name)
			seen := test.seen
			e.apply(specOf(name, test.first))
			e.waitApplication(name, "is settled", settled)
			if test.scale >= 0 {
				at := slices.Index(seen, test.scale)
				e.waitReplicas(name, seen[at-1]) // The autoscaler starts with its minimum.
				e.patch(child.Deployment, name, types.MergePatchType, fmt.Sprintf(`{"spec":{"replicas":%d}}`, test.scale), "scale")
				// What the controller has not seen when the spec changes counts as done afterwards.
				e.waitApplication(name, "sees the number", func(a *v1.Application) bool { return a.Status.DesiredReplicas == test.scale })
			}
			e.apply(specOf(name, test.next))
			e.waitReplicas(name, seen[len(seen)-1])
			e.eventually("the autoscaler comes and goes", func() (bool, string) {
				found := find[autoscalingv2.HorizontalPodAutoscaler](e, name) != nil
				return found == test.hpa, fmt.Sprint(found)
			})
			// One more change, which has nothing to do with it, must not move the number either.
			e.apply(specOf(name, test.next+"  revisionHistoryLimit: 3\n"))
			e.waitFields(child.Deployment, name, fields{"spec.revisionHistoryLimit": "3"})
			e.waitObserved(name)
			if got := recorded(); !slices.Equal(got, seen) {
				t.Errorf("the Deployment had %v replicas in turn, want %v", got, seen)
			}
		})
	}
}

func (e *env) waitReplicas(name string, want int32) {
	e.Helper()
	e.eventually(fmt.Sprintf("Deployment %s has %d replicas", name, want), func() (bool, string) {
		deployment := find[appsv1.Deployment](e, name)
		if deployment == nil {
			return false, "no Deployment"
		}
		return *deployment.Spec.Replicas == want, fmt.Sprint(*deployment.Spec.Replicas)
	})
}

// recordReplicas watches a Deployment from now on, and returns what tells the numbers of replicas
// that it has had in turn.
func (e *env) recordReplicas(name string) (recorded func() []int32) {
	e.Helper()
	watch, err := e.kube.AppsV1().Deployments(e.namespace).Watch(e.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		e.Fatal(err)
	}
	var mu sync.Mutex
	var numbers []int32
	version := ""
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watch.ResultChan() {
			deployment, ok := event.Object.(*appsv1.Deployment)
			if !ok {
				continue
			}
			mu.Lock()
			version = deployment.ResourceVersion
			if number := *deployment.Spec.Replicas; len(numbers) == 0 || numbers[len(numbers)-1] != number {
				numbers = append(numbers, number)
			}
			mu.Unlock()
		}
	}()
	e.Cleanup(func() {
		watch.Stop()
		<-done
	})
	return func() []int32 {
		e.Helper()
		e.eventually("the watch has seen the last change", func() (bool, string) {
			mu.Lock()
			defer mu.Unlock()
			return version == get[appsv1.Deployment](e, name).ResourceVersion, version
		})
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(numbers)
	}
}

// TestAutoscalerIsWokenOnce lets somebody scale an autoscaled Deployment to 0, as one does for
// the night: it stays so, whatever else happens, until the autoscaling is switched on anew.
func TestAutoscalerIsWokenOnce(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(specOf("web", fixed(0)))
	e.waitReplicas("web", 0)
	e.apply(specOf("web", autoscaled))
	e.waitReplicas("web", 2)
	e.waitReady("web")
	recorded := e.recordReplicas("web")
	e.patch(child.Deployment, "web", types.MergePatchType, `{"spec":{"replicas":0}}`, "scale")
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonScaledToZero)
	e.patch(child.Deployment, "web", types.MergePatchType, `{"metadata":{"labels":{"team":"other"}}}`)
	e.waitFields(child.Deployment, "web", fields{"metadata.labels.team": "shop"})
	e.deleteChild(child.HorizontalPodAutoscaler, "web") // Its repair is not switching on.
	e.eventually("the autoscaler is back", func() (bool, string) { return e.live(child.HorizontalPodAutoscaler, "web") != nil, "" })
	e.stop()
	e.run()
	e.apply(specOf("web", autoscaled+"  workingDir: /srv\n"))
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonScaledToZero)
	if got := recorded(); !slices.Equal(got, []int32{2, 0}) {
		t.Errorf("the Deployment had %v replicas in turn, want 2 and 0", got)
	}
}

// TestAutoscalerGoesBeforeReplicasAreSet checks the order: an autoscaler that still lives would
// change the number that the Deployment has just got.
func TestAutoscalerGoesBeforeReplicasAreSet(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(specOf("web", autoscaled))
	e.waitApplication("web", "is settled", settled)
	cursor := e.cluster.AuditCursor(t)
	e.apply(specOf("web", fixed(1)))
	e.waitReplicas("web", 1)
	e.waitReady("web")
	var order []string
	for _, event := range e.written(cursor, controlplane.OnResource("deployments", "horizontalpodautoscalers")) {
		order = append(order, event.Verb+" "+event.Resource)
	}
	if len(order) < 2 || order[0] != "delete horizontalpodautoscalers" || slices.Index(order[1:], order[0]) >= 0 {
		t.Errorf("the writes were %q, want the autoscaler deleted first", order)
	}
}

// TestScaleOfApplication uses an Application's scale subresource, as kubectl scale and
// autoscalers do.
func TestScaleOfApplication(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(specOf("web", fixed(1)))
	e.waitReady("web")
	applications := e.resource(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
	if _, err := applications.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{FieldManager: person}, "scale"); err != nil {
		t.Fatal(err)
	}
	if got := e.waitReady("web").Spec.Replicas; got == nil || *got != 3 {
		t.Errorf("spec.replicas is %v, want 3", got)
	}
	scale, err := applications.Get(t.Context(), "web", metav1.GetOptions{}, "scale")
	if err != nil {
		t.Fatal(err)
	}
	if diff := e.differing(scale, fields{"kind": "Scale", "apiVersion": autoscalingv1.SchemeGroupVersion.String(), "spec.replicas": "3", "status.replicas": "3", "status.selector": v1.LabelApplication + "=web"}); diff != "" {
		t.Errorf("the scale (-want +got):\n%s", diff)
	}
	pods, err := e.kube.CoreV1().Pods(e.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: e.field(scale, "status.selector")})
	if err != nil {
		t.Fatal(err)
	}
	running := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.Status.Phase != corev1.PodRunning })
	if len(running) != 3 {
		t.Errorf("the selector of the scale finds %d running pods, want 3", len(running))
	}
}
