// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestAdoptBesideAutoscalerAndBudget: both have the name of the Deployment, and so has an Ingress. They stay as they are, the number of pods
// stays the autoscaler's to decide, the budget protects the new pods, and the Ingress leads to them.
func TestAdoptBesideAutoscalerAndBudget(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	autoscalers, budgets := kube.AutoscalingV2().HorizontalPodAutoscalers(p.namespace), kube.PolicyV1().PodDisruptionBudgets(p.namespace)
	target := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))}
	_, err := autoscalers.Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			MinReplicas:    new(int32(1)), MaxReplicas: 5,
			Metrics: []autoscalingv2.MetricSpec{{
				Type:              autoscalingv2.ContainerResourceMetricSourceType,
				ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: corev1.ResourceCPU, Container: "shop", Target: target},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	budget, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := networkingv1.HTTPIngressPath{
		Path: "/", PathType: new(networkingv1.PathTypePrefix),
		Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}},
	}
	http := networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{path}}}
	ingress, err := kube.NetworkingV1().Ingresses(p.namespace).Create(t.Context(), &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: p.namespace + ".example.com", IngressRuleValue: http}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	adopt := []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}
	if r := p.want(2, adopt); !strings.Contains(r.stderr, "HorizontalPodAutoscaler web: .spec.metrics[0].containerResource.container is shop, which is called web in an Application") {
		t.Errorf("no refusal in %q", r.stderr)
	}
	const pods = `[{"op":"replace","path":"/spec/metrics","value":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]}]`
	autoscaler, err := autoscalers.Patch(t.Context(), "web", types.JSONPatchType, []byte(pods), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.want(0, adopt, "still at work for the new pods: HorizontalPodAutoscaler web, PodDisruptionBudget web.",
		"  Ingress web leads to these pods, stays yours and goes on to serve. To have it in spec.routes of the Application instead, without a gap, see docs/guides/migrate.md.\n", "The pods run as before the adoption.")
	if replicas := p.get("web").Spec.Replicas; replicas != nil {
		t.Errorf("the Application wants %d pods, beside an autoscaler", *replicas)
	}
	p.want(0, []string{"adopt", "web", "--rollout"}, "all 2 pods will be replaced")
	p.eventually("the condition Adopted", func() bool { return meta.IsStatusConditionTrue(p.get("web").Status.Conditions, v1.ConditionAdopted) })
	live, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || *live.Spec.Replicas != 2 {
		t.Errorf("the Deployment has %v replicas: %v", *live.Spec.Replicas, err)
	}
	after, err := autoscalers.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(autoscaler.Spec, after.Spec); diff != "" {
		t.Errorf("the autoscaler changed:\n%s", diff)
	}
	if now, err := kube.NetworkingV1().Ingresses(p.namespace).Get(t.Context(), "web", metav1.GetOptions{}); err != nil || now.ResourceVersion != ingress.ResourceVersion {
		t.Errorf("the Ingress changed: %v", err)
	}
	p.eventually("the budget to count the new pods", func() bool {
		now, err := budgets.Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && now.Status.ObservedGeneration == now.Generation && now.Status.ExpectedPods == 2 && now.Status.CurrentHealthy == 2 &&
			cmp.Equal(budget.Spec, now.Spec)
	})
	// From here on there is a budget of that name, and none of the Application's.
	p.want(0, []string{"eject", "web"}, "ejected")
	if _, err := budgets.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Errorf("after eject: %v", err)
	}
}
