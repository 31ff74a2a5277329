// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// sharedPlane is the cluster of these tests.
var sharedPlane = NewShared(WithAuditLog())

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		fmt.Fprintln(os.Stderr, startClusterAndWait())
		os.Exit(1)
	}
	os.Exit(sharedPlane.Main(m))
}

func TestDeploymentRunsOnSimulatedNodes(t *testing.T) {
	cp := sharedPlane.Get(t)
	client := newClient(t, cp.Config())
	namespace := cp.Namespace(t)
	if !strings.HasPrefix(namespace, "deploymentrunsonsimulatednodes-") {
		t.Errorf("namespace %q is not named after the test", namespace)
	}

	deployment := newDeployment("web", 3, nil)
	if _, err := client.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three pods serve", func(ctx context.Context) (bool, error) {
		live, err := client.AppsV1().Deployments(namespace).Get(ctx, "web", metav1.GetOptions{})
		return err == nil && live.Status.AvailableReplicas == 3, err
	})
	if err := client.AppsV1().Deployments(namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pods are garbage-collected", func(ctx context.Context) (bool, error) {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0, err
	})
}

func TestConfigForImpersonates(t *testing.T) {
	cp := sharedPlane.Get(t)
	namespace := cp.Namespace(t)
	tenant := newClient(t, cp.ConfigFor("jane", "tenants"))
	if _, err := tenant.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a user without roles listed ConfigMaps: got %v, want Forbidden", err)
	}
	events := cp.AuditEvents(t, InNamespace(namespace), func(e *AuditEvent) bool { return e.User == "jane" })
	if len(events) != 1 || events[0].Code != 403 {
		t.Errorf("audit log of the refused request: got %v, want one event with code 403", events)
	}
}

func TestAuditCountsRequestsPerClient(t *testing.T) {
	cp := sharedPlane.Get(t)
	namespace := cp.Namespace(t)
	config := cp.Config()
	config.UserAgent = "audit-test/1"
	client := newClient(t, config)

	cursor := cp.AuditCursor(t)
	watch, err := client.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	for _, name := range []string{"a", "b"} {
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}

	mine := []AuditFilter{FromUserAgent("audit-test/"), InNamespace(namespace), OnResource("configmaps")}
	writes := cursor.Events(t, append(mine, Writes())...)
	if len(writes) != 2 || writes[0].Name != "a" || writes[1].Name != "b" || writes[0].Code != 201 {
		t.Errorf("writes in the audit log: got %v, want the creation of a and of b", writes)
	}
	if watches := cursor.Events(t, append(mine, WithVerb("watch"))...); len(watches) != 1 {
		t.Errorf("watches in the audit log: got %v, want the one that is open", watches)
	}
	if later := cp.AuditCursor(t).Events(t, mine...); len(later) != 0 {
		t.Errorf("a cursor at the end returned %v, want nothing", later)
	}
}

func TestInstallCRDs(t *testing.T) {
	cp := sharedPlane.Get(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "widgets.yaml"), []byte(widgetCRD), 0o600); err != nil {
		t.Fatal(err)
	}
	cp.InstallCRDs(t, dir)
	cp.InstallCRDs(t, dir) // Each test that needs the definitions calls it.
	resources, err := newClient(t, cp.Config()).Discovery().ServerResourcesForGroupVersion("controlplane.test/v1")
	if err != nil || len(resources.APIResources) != 1 {
		t.Errorf("discovery of the new group: got %v, %v, want one resource", resources, err)
	}
}

const widgetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.controlplane.test
spec:
  group: controlplane.test
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
`

func TestNamespacePrefix(t *testing.T) {
	for test, want := range map[string]string{
		"TestThing":               "thing-",
		"TestThing/with_a_case":   "thing-with-a-case-",
		"TestÄ":                   "test-",
		"Test":                    "test-",
		strings.Repeat("x", 80):   strings.Repeat("x", maxPrefix) + "-",
		"TestA/#00":               "a-00-",
		"BenchmarkSync/10k_items": "benchmarksync-10k-items-",
	} {
		if got := namespacePrefix(test); got != want {
			t.Errorf("namespacePrefix(%q) = %q, want %q", test, got, want)
		}
	}
}

func newClient(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// newDeployment asks for pods with one container called web.
func newDeployment(name string, replicas int32, annotations map[string]string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "ghcr.io/acme/web:1"}}},
			},
		},
	}
}

// eventually polls until the condition holds, and fails the test when it takes absurdly long. Errors of the condition do
// not end it: servers that are being restarted give many.
func eventually(t *testing.T, what string, condition wait.ConditionWithContextFunc) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), readyPeriod, startTimeout, true, func(ctx context.Context) (bool, error) {
		var done bool
		done, last = condition(ctx)
		return done, nil
	})
	if err != nil {
		t.Fatalf("waited for this in vain: %s (last error: %v)", what, last)
	}
}
