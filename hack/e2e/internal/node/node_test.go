// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestFindTask(t *testing.T) {
	const tasks = "TASK    PID    STATUS    \nabc     12     RUNNING\nabcd    13     RUNNING\ndead    14     STOPPED\n"
	tests := []struct {
		id  string
		pid int
		err string
	}{
		{id: "abcd", pid: 13},
		{id: "dead", err: "is STOPPED"},
		{id: "ab", err: "has no process"},
	}
	for _, test := range tests {
		pid, err := findTask(tasks, test.id)
		if pid != test.pid || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: got %d, %v; want %d, %q", test.id, pid, err, test.pid, test.err)
		}
	}
}

// TestConfigs renders every configuration. What they say, only their programs can judge; that they can be parsed, and
// name what they are given, is seen here.
func TestConfigs(t *testing.T) {
	c := Config{Name: "a-node", Dir: t.TempDir(), Logs: "/some/logs", CNIPlugins: "/some/cni", Cgroup: "some-group", PauseImage: "localhost/pause:7", Kubeconfig: "/some/kubeconfig", CAFile: "/some/ca.crt"}
	if err := c.writeConfigs(); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]string{
		"containerd.toml":   {"localhost/pause:7", "/some/cni", Socket, c.Dir},
		"cni/pods.conflist": {PodNetwork, c.Dir},
		"kubelet.yaml":      {"/some-group", "/some/ca.crt", "/some/logs/pods", Socket, IP},
		"kube-proxy.yaml":   {"a-node", PodNetwork, "/some/kubeconfig"},
		"resolv.conf":       nil,
	} {
		content, err := os.ReadFile(filepath.Join(c.Dir, file))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, text := range want {
			if !strings.Contains(string(content), text) {
				t.Errorf("%s does not name %s", file, text)
			}
		}
		switch filepath.Ext(file) {
		case ".yaml":
			err = yaml.Unmarshal(content, &map[string]any{})
		case ".conflist":
			err = json.Unmarshal(content, &map[string]any{})
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
