// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"fmt"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestDisabledAutoscaler scales the Deployment of an autoscaled Application to 0, as kubectl scale does, and does what why advises.
func TestDisabledAutoscaler(t *testing.T) {
	p := start(t)
	p.create("auto", "{image: example.com/web:1, resources: {requests: {cpu: 10m}}, autoscaling: {minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 50}}")
	p.want(0, []string{"status", "auto", "--watch", "--timeout=60s"}, "2 of 2 pods updated, 2 available")
	scale := func(replicas int) {
		t.Helper()
		_, err := kubernetes.NewForConfigOrDie(p.cluster.Config()).AppsV1().Deployments(p.namespace).Patch(t.Context(), "auto", types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{FieldManager: "kubectl"}, "scale")
		if err != nil {
			t.Fatal(err)
		}
	}
	scale(0)
	p.eventually("it is stalled", func() bool {
		return meta.IsStatusConditionTrue(p.get("auto").Status.Conditions, v1.ConditionStalled)
	})
	p.want(1, []string{"why", "auto"}, p.namespace+"/auto is not ready (PodsUnavailable), and will not be until someone acts.",
		"The Deployment was scaled to 0, where its autoscaler does nothing.",
		"→ Let it scale again: kubectl -n "+p.namespace+" scale deployment auto --replicas=2")
	scale(2)
	p.want(0, []string{"status", "auto", "--watch", "--timeout=60s"}, "2 of 2 pods updated, 2 available")
}

// TestScaleBesideAutoscaler: scale warns of an autoscaler that another client made for the Deployment, unless it would do nothing.
func TestScaleBesideAutoscaler(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "1 of 1 pods updated, 1 available")
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "theirs"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MaxReplicas: 3,
		},
	}
	if _, err := kube.AutoscalingV2().HorizontalPodAutoscalers(p.namespace).Create(t.Context(), autoscaler, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "Warning: " + p.namespace + "/web: HorizontalPodAutoscaler theirs sets the number of pods too, and the two will fight: " +
		"remove spec.replicas and change its minReplicas and maxReplicas instead, or delete it\n"
	for replicas, want := range map[string]string{"6": want, "0": ""} {
		if r := p.want(0, []string{"scale", "web", "--replicas=" + replicas, "--dry-run=client"}, " → "+replicas+"\n"); r.stderr != want {
			t.Errorf("%s replicas: %q, want %q", replicas, r.stderr, want)
		}
	}
}
