// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle installs, upgrades, rolls back and uninstalls the chart with Helm on an embedded cluster. It compiles
// Helm, which takes minutes the first time, so it has a target of its own: make chart-test.
package lifecycle

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	chart     = "../../../artifacts/chart/fairlead"
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
	h := newHelm(t, cp.Kubeconfig())
	previous := previousVersion(t)
	values := []string{"--namespace=" + namespace, "--set=watchNamespaces={default}", "--wait", "--timeout=4m"}

	h.run("install", append([]string{"fairlead", previous, "--create-namespace"}, values...)...)
	wantShortName(t, client, "previous")
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

	h.run("upgrade", append([]string{"fairlead", chart}, values...)...)
	wantShortName(t, client, "fla")
	wantSame()

	h.run("rollback", "fairlead", "1", "--namespace="+namespace, "--wait", "--timeout=4m")
	wantShortName(t, client, "previous")
	wantSame()

	h.run("uninstall", "fairlead", "--namespace="+namespace, "--wait", "--timeout=4m")
	wantSame()
	_, err = client.Resource(deployments).Namespace(namespace).Get(t.Context(), "fairlead-controller", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("get the controller's Deployment after the uninstall: %v, want not found", err)
	}

	h.run("install", append([]string{"fairlead", chart}, values...)...) // It takes the CRDs over again.
	wantShortName(t, client, "fla")
	wantSame()
}

// previousVersion is the chart with another version and other CRDs, which the upgrade has to change.
func previousVersion(t *testing.T) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "fairlead")
	if output, err := exec.CommandContext(t.Context(), "cp", "-RL", chart, directory).CombinedOutput(); err != nil {
		t.Fatalf("copy the chart: %v\n%s", err, output)
	}
	for file, edit := range map[string][2]string{
		"Chart.yaml": {"\nversion: 0.0.0-dev\n", "\nversion: 0.0.0-alpha\n"},
		"files/crds/apps.fairlead.dev_applications.yaml": {"    - fla\n", "    - previous\n"},
	} {
		path := filepath.Join(directory, file)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		edited := strings.Replace(string(content), edit[0], edit[1], 1)
		if edited == string(content) {
			t.Fatalf("%s has no %q", file, edit[0])
		}
		if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
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

// helm is the command that the module pins, with a home of its own.
type helm struct {
	t      *testing.T
	binary string
	env    []string
}

func newHelm(t *testing.T, kubeconfig string) helm {
	t.Helper()
	home := t.TempDir()
	binary := filepath.Join(home, "helm")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", binary, "helm.sh/helm/v4/cmd/helm")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build helm: %v\n%s", err, output)
	}
	return helm{t, binary, append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+home, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)}
}

func (h helm) run(action string, arguments ...string) {
	h.t.Helper()
	var output bytes.Buffer
	command := exec.CommandContext(h.t.Context(), h.binary, append([]string{action}, arguments...)...)
	command.Env, command.Stdout, command.Stderr = h.env, &output, &output
	if err := command.Run(); err != nil {
		h.t.Fatalf("helm %s: %v\n%s", action, err, &output)
	}
	h.t.Logf("helm %s:\n%s", action, &output)
}
