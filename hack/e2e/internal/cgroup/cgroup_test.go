// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCreateFillsCpuset tries it on directories that look like version 1.
func TestCreateFillsCpuset(t *testing.T) {
	root := t.TempDir()
	group := filepath.Join(root, "group")
	files := map[string]string{
		filepath.Join(root, "cpuset.cpus"):  "0-3\n",
		filepath.Join(root, "cpuset.mems"):  "0\n",
		filepath.Join(group, "cpuset.cpus"): "\n",
		filepath.Join(group, "cpuset.mems"): "1\n",
	}
	if err := os.Mkdir(group, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, content := range files {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := create(group); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"cpuset.cpus": "0-3\n", "cpuset.mems": "1\n"} {
		if got, err := os.ReadFile(filepath.Join(group, file)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", file, got, err, want)
		}
	}
}

func TestRemove(t *testing.T) {
	group := filepath.Join(t.TempDir(), "group")
	if err := os.MkdirAll(filepath.Join(group, "kubepods", "pod1"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // What is not there is removed too.
		if err := remove(group); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(group); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
