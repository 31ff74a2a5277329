// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/hack/cluster/internal/pki"
)

func TestDataDirHasOneOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new")
	first, err := openDataDir(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openDataDir(path, false); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second owner: got error %v, want one that says who has it", err)
	}
	if err := first.close(false); err != nil {
		t.Fatal(err)
	}
	second, err := openDataDir(path, false)
	if err != nil {
		t.Fatalf("after the first owner has gone: %v", err)
	}
	if err := second.close(false); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyAnEmptyDirectoryIsRemoved(t *testing.T) {
	path := t.TempDir()
	precious := filepath.Join(path, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openDataDir(path, true); err == nil {
		t.Error("a directory with other people's files was accepted for removal")
	}
	if err := os.Remove(precious); err != nil {
		t.Fatal(err)
	}
	dir, err := openDataDir(path, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.close(false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the directory is still there (%v)", err)
	}
}

func TestForeignKubeconfigIsNotTouched(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	if err := removeKubeconfig(file); err != nil {
		t.Errorf("no file at all: %v", err)
	}
	foreign := "apiVersion: v1\nkind: Config\ncurrent-context: production\n"
	if err := os.WriteFile(file, []byte(foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeKubeconfig(file); err == nil {
		t.Error("the kubeconfig of another program was removed")
	}

	dir := t.TempDir()
	ca, err := pki.LoadOrCreateAuthority(dir, "ca")
	if err != nil {
		t.Fatal(err)
	}
	client, err := ca.Issue("admin", pki.Subject{CommonName: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := pki.Kubeconfig("https://127.0.0.1:1", ca, client)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, ours, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeKubeconfig(file); err != nil {
		t.Errorf("a kubeconfig of ours: %v", err)
	}
}
