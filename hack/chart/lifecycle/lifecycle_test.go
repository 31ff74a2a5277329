// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle installs, upgrades, rolls back and uninstalls the chart with Helm on an embedded cluster. It compiles
// Helm, which takes minutes the first time, so it has a target of its own: make chart-test.
package lifecycle

import (
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/hack/internal/helm"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	root      = "../../.."
	namespace = "fairlead-system"
)

var (
	crds         = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	applications = schema.GroupVersionResource{Group: "apps.fairlead.dev", Version: "v1", Resource: "applications"}
)

// TestLifecycle goes the way of a platform team. The nodes are simulated, so the controller's pods get ready but answer no
// webhook: the chart watches one namespace, which registers none. The Application stands for everything that users have:
// it must stay the same object throughout.
func TestLifecycle(t *testing.T) {
	cp := controlplane.ForTest(t)
	client := dynamic.NewForConfigOrDie(cp.Config())
	home := t.TempDir()
	h := helm.Helm{Binary: filepath.Join(home, "helm"), Home: home, Kubeconfig: cp.Kubeconfig()}
	if output, err := helm.Build(t.Context(), root, h.Binary).CombinedOutput(); err != nil {
		t.Fatalf("build helm: %v\n%s", err, output)
	}
	chart, previous := helm.Chart(root), filepath.Join(home, "fairlead")
	if err := helm.WritePrevious(t.Context(), root, previous); err != nil {
		t.Fatal(err)
	}
	values := []string{"--namespace=" + namespace, "--set=watchNamespaces={default}", "--wait", "--timeout=4m"}

	run(t, h, append([]string{"install", "fairlead", previous, "--create-namespace"}, values...)...)
	wantShortName(t, client, helm.PreviousShortName)
	application, err := client.Resource(applications).Namespace(metav1.NamespaceDefault).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": applications.GroupVersion().String(), "kind": "Application",
		"metadata": map[string]any{"name": "web"},
		"spec":     map[string]any{"image": "registry.example.com/web:1"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantSame := func() {
		t.Helper()
		wantUID(t, client, application.GetUID())
	}

	run(t, h, append([]string{"upgrade", "fairlead", chart}, values...)...)
	wantShortName(t, client, helm.ShortName)
	wantSame()

	run(t, h, "rollback", "fairlead", "1", "--namespace="+namespace, "--wait", "--timeout=4m")
	wantShortName(t, client, helm.PreviousShortName)
	wantSame()

	run(t, h, "uninstall", "fairlead", "--namespace="+namespace, "--wait", "--timeout=4m")
	wantSame()
	_, err = client.Resource(deployments).Namespace(namespace).Get(t.Context(), "fairlead-controller", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("get the controller's Deployment after the uninstall: %v, want not found", err)
	}

	run(t, h, append([]string{"install", "fairlead", chart}, values...)...) // It takes the CRDs over again.
	wantShortName(t, client, helm.ShortName)
	wantSame()
}

func wantShortName(t *testing.T, client dynamic.Interface, want string) {
	t.Helper()
	crd, err := client.Resource(crds).Get(t.Context(), applications.GroupResource().String(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names, _, err := unstructured.NestedStringSlice(crd.Object, "spec", "names", "shortNames")
	if err != nil || len(names) != 1 || names[0] != want {
		t.Errorf("the CRD has the short names %q, want %s: %v", names, want, err)
	}
}

func wantUID(t *testing.T, client dynamic.Interface, want types.UID) {
	t.Helper()
	application, err := client.Resource(applications).Namespace(metav1.NamespaceDefault).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if application.GetUID() != want || application.GetGeneration() != 1 {
		t.Errorf("the Application is another one, or was changed: UID %s, generation %d", application.GetUID(), application.GetGeneration())
	}
}

// run runs Helm and logs what it prints.
func run(t *testing.T, h helm.Helm, arguments ...string) {
	t.Helper()
	output, err := h.Command(t.Context(), arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", arguments[0], err, output)
	}
	t.Logf("helm %s:\n%s", arguments[0], output)
}
