// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/hack/internal/objects"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestDeployAndUndeploy goes the way of a platform team, on simulated nodes: the pods get ready, and
// nothing answers in them.
func TestDeployAndUndeploy(t *testing.T) {
	cp := controlplane.ForTest(t)
	kube := kubernetes.NewForConfigOrDie(cp.Config())
	o := options{
		kubeconfig: cp.Kubeconfig(),
		crds:       filepath.Join("..", "..", "artifacts", "crds"),
		overlay:    filepath.Join("..", "..", "artifacts", "overlays", "default"),
		image:      "registry.example.com/fairlead-controller:test",
		timeout:    4 * time.Minute,
		// Longer than the API server itself waits for a webhook: it must have answered once.
		webhookTimeout: 6 * time.Second,
	}
	output := mustRun(t, "install", o)
	if want := "available: Deployment fairlead-system/fairlead-controller\nThe API server does not reach the webhooks yet"; !strings.Contains(output, want) {
		t.Errorf("the output does not say %q:\n%s", want, output)
	}
	deployment, err := kube.AppsV1().Deployments("fairlead-system").Get(t.Context(), controllerName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if image := deployment.Spec.Template.Spec.Containers[0].Image; image != o.image {
		t.Errorf("the image is %s", image)
	}
	mustRun(t, "install", o) // again, over the first
	again, err := kube.AppsV1().Deployments("fairlead-system").Get(t.Context(), controllerName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Generation != deployment.Generation {
		t.Errorf("the second run has changed the Deployment: generation %d, was %d", again.Generation, deployment.Generation)
	}

	mustRun(t, "uninstall", o)
	if _, err := kube.CoreV1().Namespaces().Get(t.Context(), "fairlead-system", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get the namespace after the uninstall: %v, want not found", err)
	}

	applications := dynamic.NewForConfigOrDie(cp.Config()).Resource(v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)).Namespace(metav1.NamespaceDefault)
	application := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(),
		"kind":       v1.ApplicationKind,
		"metadata":   map[string]any{"name": "web", "finalizers": []any{v1.FinalizerOrphan}},
		"spec":       map[string]any{"image": "example.com/web:1", "deletionPolicy": "Orphan"},
	}}
	if _, err := applications.Create(t.Context(), application, metav1.CreateOptions{}); err != nil {
		t.Fatalf("create an Application when the webhooks are gone: %v", err)
	}
	theirs := application.DeepCopy()
	theirs.SetName("theirs")
	theirs.SetFinalizers([]string{"example.com/hold"})
	if _, err := applications.Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	output = mustRun(t, "uninstall", o) // with nothing there
	for _, want := range []string{
		"not there: Namespace fairlead-system\n", "stays: applications.apps.fairlead.dev, with 2 objects\n" +
			"stays: 1 object with the finalizer apps.fairlead.dev/orphan, so a deletion waits until Fairlead is deployed again\n" +
			"stays: 1 object with deletionPolicy Orphan and without the finalizer apps.fairlead.dev/orphan (default/theirs). Until Fairlead is deployed again, deleting them deletes their children too\n" +
			"stays: 1 object with a finalizer of another tool, so a deletion waits for that tool\n",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("the output lacks %q:\n%s", want, output)
		}
	}
	if _, err := applications.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Errorf("the Application did not stay: %v", err)
	}
}

// TestInstallNamesWhatIsNotServed, all of it and before the first write.
func TestInstallNamesWhatIsNotServed(t *testing.T) {
	cp := controlplane.ForTest(t, controlplane.APIOnly())
	o := options{kubeconfig: cp.Kubeconfig(), crds: filepath.Join("..", "..", "artifacts", "crds"), overlay: filepath.Join("..", "..", "artifacts", "overlays", "platform"), timeout: time.Minute}
	var output strings.Builder
	err := run(t.Context(), []string{"install"}, o, &output)
	if err == nil || !strings.Contains(err.Error(), "monitoring.coreos.com/v1 ServiceMonitor") || !strings.Contains(err.Error(), "cert-manager.io/v1 Issuer") {
		t.Errorf("got %v, want an error with both groups that are not served", err)
	}
	if strings.Contains(output.String(), "applied:") {
		t.Errorf("something was applied:\n%s", &output)
	}
}

// TestInstallWhileTheCRDIsDeleted: an uninstall was interrupted. What it waits for is said, and nothing is called installed.
func TestInstallWhileTheCRDIsDeleted(t *testing.T) {
	cp := controlplane.ForTest(t, controlplane.APIOnly())
	o := options{kubeconfig: cp.Kubeconfig(), crds: filepath.Join("..", "..", "artifacts", "crds"), timeout: time.Minute}
	mustRun(t, "install-crds", o)
	client := dynamic.NewForConfigOrDie(cp.Config())
	applications := client.Resource(v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)).Namespace(metav1.NamespaceDefault)
	application := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(),
		"kind":       v1.ApplicationKind,
		"metadata":   map[string]any{"name": "web", "finalizers": []any{v1.FinalizerOrphan}},
		"spec":       map[string]any{"image": "example.com/web:1", "deletionPolicy": "Orphan"},
	}}
	if _, err := applications.Create(t.Context(), application, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const name = v1.ApplicationResource + "." + v1.GroupName
	if err := client.Resource(objects.CRDs).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	err := run(t.Context(), []string{"install-crds"}, o, &output)
	if want := "the CRD " + name + " is being deleted, since "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "then run make install again") {
		t.Errorf("got %v, want %q …", err, want)
	}
	if want := "waiting: the controller has to remove the finalizer apps.fairlead.dev/orphan of default/web; if none runs, start one: make run"; !strings.Contains(output.String(), want) || strings.Contains(output.String(), "installed:") {
		t.Errorf("the output is not %q …:\n%s", want, &output)
	}
}

func TestOrder(t *testing.T) {
	kinds := []string{"ValidatingWebhookConfiguration", "RoleBinding", "Deployment", "Service", "Namespace", "ServiceMonitor", "ServiceAccount"}
	var objects []*unstructured.Unstructured
	for _, kind := range kinds {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{"kind": kind}})
	}
	sortForApply(objects)
	var got []string
	for _, object := range objects {
		got = append(got, object.GetKind())
	}
	want := []string{"Namespace", "ServiceAccount", "RoleBinding", "Service", "ServiceMonitor", "Deployment", "ValidatingWebhookConfiguration"}
	if !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
}

func TestProblems(t *testing.T) {
	deployment := &appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota"},
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Reason: "MinimumReplicasUnavailable", Message: "says nothing new"},
	}}}
	pulling := corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: "controller", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}},
	}}}}
	crashing := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: "controller", LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}},
	}}}}
	pending := corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes"}}}}
	got := problems(deployment, []corev1.Pod{pulling, pulling, crashing, pending})
	want := []string{
		"FailedCreate: exceeded quota",
		"container controller ended before with exit code 2 (Error); see its log: kubectl logs -n n p --previous",
		"container controller: ErrImagePull: not found",
		"pod not scheduled: 0/3 nodes",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
