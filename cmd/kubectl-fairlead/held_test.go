// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestHeldDeployment: a finalizer holds a Deployment that a user deletes, and the status and why say which. Without it, the Deployment
// is created again.
func TestHeldDeployment(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1, replicas: 1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	deployments := kubernetes.NewForConfigOrDie(p.cluster.Config()).AppsV1().Deployments(p.namespace)
	patch := func(finalizers string) {
		_, err := deployments.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{FieldManager: "holder"})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	patch(`["example.com/hold"]`)
	if err := deployments.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the status to say that it is deleted", func() bool {
		ready := meta.FindStatusCondition(p.get("web").Status.Conditions, v1.ConditionReady)
		return strings.Contains(ready.Message, "Deployment web: Terminating until its controller removes the finalizer example.com/hold; will then be recreated.")
	})
	p.want(1, []string{"why", "web"}, "it waits for a finalizer of Deployment web, which Fairlead does not remove.", "example.com/hold, set by holder",
		"kubectl -n "+p.namespace+" edit deployments.apps web, and remove the finalizer.")
	patch("null")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "1 of 1 pods updated, 1 available")
}

// TestUnansweredWebhook: the webhook of another component is away, and the API server refuses the Deployment.
func TestUnansweredWebhook(t *testing.T) {
	p := start(t)
	webhooks := kubernetes.NewForConfigOrDie(p.cluster.Config()).AdmissionregistrationV1().ValidatingWebhookConfigurations()
	configuration := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: p.namespace},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "names.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionv1.SideEffectClassNone),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: p.namespace}},
			ClientConfig:      admissionv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.OperationAll},
				Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}},
		}},
	}
	if _, err := webhooks.Create(t.Context(), configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app": "probe"}
	probe := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}}},
	}}
	deployments := kubernetes.NewForConfigOrDie(p.cluster.Config()).AppsV1().Deployments(p.namespace)
	remove := func() error { return webhooks.Delete(p.Context(), p.namespace, metav1.DeleteOptions{}) }
	t.Cleanup(func() { _ = remove() })
	// The API server takes a moment to call it.
	p.eventually("the webhook to be called", func() bool {
		_, err := deployments.Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInternalError(err)
	})
	p.create("web", "{image: example.com/web:1, replicas: 1}")
	p.eventually("the Deployment to be refused", func() bool {
		return slices.ContainsFunc(p.get("web").Status.Resources, func(resource v1.ResourceStatus) bool { return resource.State == v1.ResourceFailed })
	})
	p.want(1, []string{"why", "web"}, "(ApplyFailed): the controller retries until admission webhook names.example.com answers.",
		"Deployment web could not be written, because admission webhook names.example.com gives the API server no answer; the controller retries.",
		"kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations")
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"status", "web", "--watch", "--timeout=120s"}, "1 of 1 pods updated, 1 available")
}
