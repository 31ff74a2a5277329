// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/checks/documents"
	"fairlead.dev/fairlead/pkg/admission"
)

// TestTroubleshootingApply reproduces the entry of the page that begins with what kubectl apply says: the webhooks are registered, and
// nothing answers at their address.
func TestTroubleshootingApply(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(troubleshooting)))
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(content), "\n## By what kubectl apply says\n")
	page, _, _ = strings.Cut(page, "\n## ")
	blocks := regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(page, -1)
	if strings.Count(page, "\n### ") != 1 || len(blocks) != 2 {
		t.Fatalf("the chapter has not one entry, with what kubectl says and what to type:\n%s", page)
	}
	shown, entry := blocks[0][1], entry{commands: documents.Block{Language: "sh", Text: blocks[1][1]}.Commands()}

	e := newEnv(t, shared.Get(t))
	mutating, _ := admission.Configurations(e.namespace, admission.Endpoint{URL: "https://127.0.0.1:1"}, "fairlead-system")
	for i := range mutating.Webhooks {
		mutating.Webhooks[i].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: e.namespace}}
	}
	configurations := e.kube.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if _, err := configurations.Create(e.Context(), mutating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = configurations.Delete(context.WithoutCancel(t.Context()), e.namespace, metav1.DeleteOptions{})
	})

	kubectl := buildKubectl(t)
	e.eventually("kubectl apply says what the page shows", func() (bool, string) {
		process := exec.CommandContext(t.Context(), filepath.Join(kubectl, "kubectl"), "--kubeconfig="+e.cluster.Kubeconfig(), "--namespace="+e.namespace, "apply", "--dry-run=server", "-f", "-")
		process.Stdin = strings.NewReader(`{"apiVersion": "apps.fairlead.dev/v1", "kind": "Application", "metadata": {"name": "web"}, "spec": {"image": "registry.example.com/web:1"}}`)
		// It fails, as the page says; what it prints decides.
		output, _ := process.CombinedOutput()
		return documents.Matches(shown, string(output)), string(output)
	})
	e.types(kubectl, entry)
}
