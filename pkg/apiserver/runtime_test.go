// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// podOf returns a pod of the Application cart with a container that requests CPU and memory.
func podOf(name string, phase corev1.PodPhase, ready corev1.ConditionStatus, mutate ...func(*corev1.Pod)) *corev1.Pod {
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{v1.LabelApplication: "cart"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
			}},
		}}},
		Status: corev1.PodStatus{
			Phase:             phase,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour))}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "app", RestartCount: 2, Ready: ready == corev1.ConditionTrue}},
		},
	}
	for _, m := range mutate {
		m(object)
	}
	return object
}

func waiting(reason string, since time.Time) func(*corev1.Pod) {
	return func(object *corev1.Pod) {
		object.Status.Conditions[0].LastTransitionTime = metav1.NewTime(since)
		object.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: "back-off"}
	}
}

func TestRuntime(t *testing.T) {
	application := &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "u", Labels: map[string]string{"team": "a"}},
		Status: v1.ApplicationStatus{
			DesiredReplicas: 3, Image: "example.com/cart:1",
			Conditions: []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: "R", Message: "M"}},
		},
	}
	var pods []*pod
	for _, object := range []*corev1.Pod{
		podOf("ready", corev1.PodRunning, corev1.ConditionTrue),
		podOf("pulling", corev1.PodPending, corev1.ConditionFalse, waiting("ImagePullBackOff", noon.Add(-time.Minute))),
		podOf("erroneous", corev1.PodPending, corev1.ConditionFalse, waiting("CreateContainerConfigError", noon.Add(-2*time.Minute))),
		podOf("starting", corev1.PodRunning, corev1.ConditionFalse),
		podOf("evicted", corev1.PodFailed, corev1.ConditionFalse),
		podOf("going", corev1.PodRunning, corev1.ConditionTrue, func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(noon)) }),
	} {
		pods = append(pods, newPod(object))
	}
	used := map[string]usage{"ready": {milliCPU: 33, memory: 1<<20 + 1}, "gone": {milliCPU: 1000}}
	got := newRuntime(application, pods, used, noon)
	want := &v1alpha1.ApplicationRuntime{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "u", Labels: map[string]string{"team": "a"}},
		Ready:      metav1.ConditionFalse, Reason: "R", Message: "M", Image: "example.com/cart:1",
		Pods:     v1alpha1.PodCounts{Desired: 3, Ready: 1, Pending: 2, NotReady: 1, Ended: 1, Terminating: 1},
		Restarts: 12,
		OldestProblem: &v1alpha1.PodProblem{
			Reason: v1.ReasonConfigError, Message: "back-off", Pod: "erroneous", Container: "app", Since: metav1.NewTime(noon.Add(-2 * time.Minute)),
		},
		CPU:    v1alpha1.ResourceUse{Requested: new(resource.MustParse("500m")), Used: new(resource.MustParse("40m"))},
		Memory: v1alpha1.ResourceUse{Requested: new(resource.MustParse("320Mi")), Used: new(resource.MustParse("2Mi"))},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("view (-want +got):\n%s", diff)
	}
	if cells := runtimeRow(got, noon).Cells; cells[2] != "1/3" || cells[5] != "2m" || cells[6] != "40m/500m" || cells[8] != "<unknown>" {
		t.Errorf("row %v", cells)
	}
}

// TestMeter: without the metrics API there are no measurements, rather than those of before.
func TestMeter(t *testing.T) {
	list := &v1beta1.PodMetricsList{Items: []v1beta1.PodMetrics{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-1"},
		Containers: []v1beta1.ContainerMetrics{
			{Usage: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("1Ki")}},
			{Usage: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("6m")}},
		},
	}}}
	var failure error
	m := &meter{list: func(context.Context, metav1.ListOptions) (*v1beta1.PodMetricsList, error) { return list, failure }}
	m.read(t.Context())
	if got := m.used()["shop"]["cart-1"]; got != (usage{milliCPU: 11, memory: 1024, measured: true}) {
		t.Errorf("use %+v", got)
	}
	failure = context.DeadlineExceeded
	m.read(t.Context())
	if got := m.used(); got != nil {
		t.Errorf("after a failure: %v", got)
	}
}
