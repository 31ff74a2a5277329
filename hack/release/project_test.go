// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const testVersion = "v0.2.0"

// newProject makes a repository with the little that a release needs: two servers, a plugin, a chart and the manifests. The
// commands import nothing, so that they compile for six platforms within seconds.
func newProject(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for file, content := range map[string]string{
		"go.mod":                          "module example.com/project\n\ngo 1.26.0\n",
		"LICENSE":                         "license\n",
		".gitignore":                      "/dist/\n",
		"cmd/fairlead-controller/main.go": "package main\n\nfunc main() {}\n",
		"cmd/fairlead-apiserver/main.go":  "package main\n\nfunc main() {}\n",
		"cmd/kubectl-fairlead/main.go":    "package main\n\nfunc main() {}\n",
		"cmd/kubectl-fairlead/kubectl_complete-fairlead": "#!/bin/sh\n",
		"artifacts/install.yaml":                         "kind: Deployment\n  image: localhost/fairlead-controller:dev\n",
		"artifacts/crds/crd.yaml":                        "kind: CustomResourceDefinition\n",
		chartDirectory + "/Chart.yaml":                   "name: fairlead\nversion: 0.0.0-dev\nappVersion: v0.0.0-dev\n",
		chartDirectory + "/values.yaml":                  "image:\n  repository: localhost/fairlead-controller\n  tag: dev\n  digest: \"\"\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../crds", filepath.Join(root, chartDirectory, "crds")); err != nil {
		t.Fatal(err)
	}
	inGit(t, root, "init", "--quiet")
	commitAll(t, root, "controller: sync Applications")
	inGit(t, root, "tag", "v0.1.0")
	if err := os.WriteFile(filepath.Join(root, "README.md"), []byte("new\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	commitAll(t, root, "docs: say what it does")
	return root
}

func commitAll(t *testing.T, root, subject string) {
	t.Helper()
	inGit(t, root, "add", "--all")
	inGit(t, root, "-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", subject)
}

func inGit(t *testing.T, root string, arguments ...string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root, "-c", "core.hooksPath=/dev/null"}, arguments...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", arguments, err, output)
	}
}

func projectOptions(root string) options {
	return options{
		version: testVersion, registry: "registry.example.com/team", downloads: "https://downloads.example.com", source: "https://git.example.com/project",
		builder: "test", root: root, dist: filepath.Join(root, "dist"),
	}
}

func mustRun(t *testing.T, o options) {
	t.Helper()
	if err := run(t.Context(), o, io.Discard); err != nil {
		t.Fatal(err)
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pkcs8(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func asPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func readFile(t *testing.T, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
