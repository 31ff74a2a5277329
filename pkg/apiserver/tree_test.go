// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func controlledBy(uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{UID: uid, Controller: new(true)}}
}

func replicaSetOf(name string, desired, ready int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), OwnerReferences: controlledBy("deployment")},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &desired},
		Status:     appsv1.ReplicaSetStatus{Replicas: desired, ReadyReplicas: ready},
	}
}

func of(owner types.UID) func(*corev1.Pod) {
	return func(object *corev1.Pod) {
		object.UID, object.OwnerReferences = types.UID(object.Name), controlledBy(owner)
	}
}

func TestTree(t *testing.T) {
	failing := replicaSetOf("denied", 1, 0)
	failing.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "quota"}}
	f := family{
		application: &v1.Application{
			ObjectMeta: metav1.ObjectMeta{Name: "cart", UID: "application"},
			Status: v1.ApplicationStatus{
				Conditions: []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonImagePullFailed, Message: "1 pod: back-off"}},
				Problems:   []v1.Problem{{Reason: v1.ReasonImagePullFailed}},
				Resources: []v1.ResourceStatus{
					{Group: "apps", Kind: "Deployment", Name: "cart", UID: "deployment", State: v1.ResourceSynced},
					{Kind: "Service", Name: "cart", UID: "service", State: v1.ResourceSynced},
					{Group: "networking.k8s.io", Kind: "Ingress", Name: "cart", State: v1.ResourceConflict, Message: "not owned"},
					{Kind: "ConfigMap", Name: "cart", UID: "config", State: v1.ResourcePending},
				},
			},
		},
		replicaSets: []*appsv1.ReplicaSet{failing, replicaSetOf("new", 2, 1), replicaSetOf("old", 0, 0)},
		pods: []*pod{
			newPod(podOf("broken", corev1.PodPending, corev1.ConditionFalse, waiting("ImagePullBackOff", noon), of("new"))),
			newPod(podOf("foreign", corev1.PodRunning, corev1.ConditionTrue, of("another"))),
			newPod(podOf("good", corev1.PodRunning, corev1.ConditionTrue, of("new"))),
		},
		slices: []*discoveryv1.EndpointSlice{{
			ObjectMeta: metav1.ObjectMeta{Name: "cart-1", OwnerReferences: controlledBy("service")},
			Endpoints:  []discoveryv1.Endpoint{{Conditions: discoveryv1.EndpointConditions{Ready: new(false)}}},
		}},
	}
	var got []string
	for _, node := range newTree(f, noon.Add(time.Minute)).Nodes {
		got = append(got, fmt.Sprintf("%d %s/%s %s %s %s", node.Depth, node.Kind, node.Name, node.Health, node.Reason, node.Message))
	}
	want := []string{
		"0 Application/cart Degraded ImagePullFailed 1 pod: back-off",
		"1 Deployment/cart Degraded ImagePullFailed 1 pod: back-off",
		"2 ReplicaSet/denied Degraded FailedCreate quota",
		"2 ReplicaSet/new Progressing Scaling 1 of 2 pods are ready.",
		"3 Pod/broken Degraded ImagePullFailed back-off",
		"3 Pod/good Healthy  ",
		"1 Service/cart Healthy  ",
		"2 EndpointSlice/cart-1 Degraded NoReadyEndpoints None of 1 endpoints is ready; the Service has no backend here.",
		"1 Ingress/cart Degraded Conflict not owned",
		"1 ConfigMap/cart Progressing Pending ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("tree\n%q, want\n%q", got, want)
	}
}
