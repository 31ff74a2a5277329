// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package main

import "syscall"

// childAttributes put the child into a process group of its own, so that a Ctrl-C on the terminal reaches the demo alone,
// which then stops its children in order. Outside Linux, a controller outlives a demo that is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
