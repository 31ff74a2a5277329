// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
)

// TestDiffOfFiles: beside two files nobody looks at the cluster, so diff does not say that there are no pods.
func TestDiffOfFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, filepath.Join(dir, "none"))
	for name, content := range map[string]string{
		"class.yaml":  "{apiVersion: apps.fairlead.dev/v1, kind: ApplicationClass, metadata: {name: gold}, spec: {}}",
		"before.yaml": "{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web, namespace: shop}, spec: {image: 'web:1', replicas: 3}}",
		"after.yaml":  "{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web, namespace: shop}, spec: {image: 'web:2', replicas: 3}}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	Run(t.Context(), streams, []string{
		"diff", "--from", filepath.Join(dir, "before.yaml"), "-f", filepath.Join(dir, "after.yaml"), "--class-file", filepath.Join(dir, "class.yaml"),
	})
	if want := "shop/web: all pods are replaced, because of containers[web].image.\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("%s%s, want %s", out, errOut, want)
	}
}
