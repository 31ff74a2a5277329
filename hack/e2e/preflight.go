// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// missing is what the machine lacks. It is an error unless it is empty: a test that cannot run has not passed.
type missing []string

func (m missing) Error() string {
	return "this machine cannot run the end-to-end test:\n  - " + strings.Join(m, "\n  - ")
}

// cniDirectories are where distributions put the CNI plugins.
func cniDirectories() []string {
	return []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}
}

// packages are the Debian packages of the programs that the node consists of.
func packages() []struct{ program, debian string } {
	return []struct{ program, debian string }{
		{"containerd", "containerd"},
		{"ctr", "containerd"},
		{"runc", "runc"},
		{"iptables", "iptables"},
		{"iptables-restore", "iptables"},
		{"conntrack", "conntrack"},
		{"ip", "iproute2"},
		{"buildah", "buildah"},
		{"curl", "curl"},
		{"unshare", "util-linux"},
		{"mount", "mount"},
	}
}

// preflight finds out what is missing, and how to get it.
func preflight(o options) missing {
	if runtime.GOOS != "linux" {
		return missing{"it is " + runtime.GOOS + ", and a node needs Linux; use a virtual machine"}
	}
	var m missing
	if os.Geteuid() != 0 {
		m = append(m, "you are not root, and containers need it: sudo make e2e")
	}
	var install []string
	for _, p := range packages() {
		if _, err := exec.LookPath(p.program); err != nil && (len(install) == 0 || install[len(install)-1] != p.debian) {
			install = append(install, p.debian)
		}
	}
	if findCNIPlugins() == "" {
		install = append(install, "containernetworking-plugins")
	}
	if len(install) > 0 {
		m = append(m, fmt.Sprintf("these packages: apt-get install --no-install-recommends %s (on Debian and Ubuntu)", strings.Join(install, " ")))
	}
	for _, name := range []string{"fairlead-cluster", "fairlead-node"} {
		if _, err := os.Stat(o.bin(name)); err != nil {
			m = append(m, fmt.Sprintf("bin/%s: make e2e builds it", name))
		}
	}
	return m
}

// findCNIPlugins returns the directory with the plugins that the node uses, or "".
func findCNIPlugins() string {
	for _, directory := range cniDirectories() {
		found := true
		for _, plugin := range []string{"ptp", "host-local", "loopback"} {
			if _, err := os.Stat(filepath.Join(directory, plugin)); err != nil {
				found = false
			}
		}
		if found {
			return directory
		}
	}
	return ""
}
