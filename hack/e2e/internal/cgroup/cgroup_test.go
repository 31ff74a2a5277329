// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, mountinfo string
		want            []string
	}{
		{
			name: "version 1 with the unified hierarchy beside it",
			mountinfo: "20 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n" +
				"30 20 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n" +
				"31 20 0:27 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n",
			want: []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"},
		},
		{
			name:      "version 2",
			mountinfo: "30 20 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			want:      []string{"/sys/fs/cgroup"},
		},
		{
			name:      "mounted elsewhere, for a container",
			mountinfo: "30 20 0:26 / /tmp/rootfs/sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parse(strings.NewReader(test.mountinfo))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	if _, err := parse(strings.NewReader("30 20 0:26 / /sys/fs/cgroup\n")); err == nil {
		t.Error("a line without a file system was accepted")
	}
}

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
