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

// TestDiffOfNewFiles: a new Application says how many pods it starts with, also if an autoscaler or a user decides later.
func TestDiffOfNewFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, filepath.Join(dir, "none"))
	write := func(name, content string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	class := write("class.yaml", "{apiVersion: apps.fairlead.dev/v1, kind: ApplicationClass, metadata: {name: gold}, spec: {}}")
	before := write("before.yaml", "{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: other, namespace: shop}, spec: {image: 'web:1'}}")
	for spec, want := range map[string]string{
		"replicas: 9": "9 pods are asked for.",
		"autoscaling: {minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 80}, resources: {requests: {cpu: 100m}}": "2 pods are asked for.",
		"autoscaling: {maxReplicas: 5, targetCPUUtilizationPercentage: 80}, resources: {requests: {cpu: 100m}}":                 "1 pod is asked for.",
		"progressDeadlineSeconds: 60": "1 pod is asked for.",
	} {
		after := write("after.yaml", "{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: other, namespace: shop}, spec: {image: 'web:1'}}\n---\n"+
			"{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web, namespace: shop}, spec: {image: 'web:1', "+spec+"}}")
		streams, _, out, errOut := genericiooptions.NewTestIOStreams()
		Run(t.Context(), streams, []string{"diff", "--from", before, "-f", after, "--class-file", class})
		if want := "shop/web: " + want + "\n"; !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s%s, want %s", spec, out, errOut, want)
		}
	}
}
