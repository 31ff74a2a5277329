// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tunables are the settings of the kernel that the kubelet makes and that no namespace separates.
func tunables() []string {
	return []string{
		"/proc/sys/vm/overcommit_memory",
		"/proc/sys/vm/panic_on_oom",
		"/proc/sys/kernel/panic",
		"/proc/sys/kernel/panic_on_oops",
		"/proc/sys/kernel/keys/root_maxkeys",
		"/proc/sys/kernel/keys/root_maxbytes",
	}
}

// shadowSysctls makes files in dir for the kubelet to write to instead: a test should not decide whether the machine
// that it runs on reboots when its kernel stumbles.
func shadowSysctls(dir string) (shadows map[string]string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	shadows = map[string]string{}
	for _, tunable := range tunables() {
		value, err := os.ReadFile(tunable)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		standIn := filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(tunable, "/proc/sys/"), "/", "."))
		if err := os.WriteFile(standIn, value, 0o600); err != nil {
			return nil, err
		}
		shadows[tunable] = standIn
	}
	return shadows, nil
}
