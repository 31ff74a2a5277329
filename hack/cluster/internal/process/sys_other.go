// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package process

import "syscall"

// childAttributes cannot tie the life of a child to ours outside Linux: there, only an orderly stop leaves no process.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// waitStopped has no portable way to wait.
func waitStopped(int) error { return nil }
