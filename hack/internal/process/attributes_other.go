// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package process

import "syscall"

// childAttributes put the child into a process group of its own, so that a Ctrl-C on the terminal reaches this process
// alone, which then stops its children in order. Outside Linux, they outlive a process that is killed.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
