// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import "syscall"

// childAttributes put the child into a process group of its own, so that a Ctrl-C on the terminal reaches this process
// alone, which then stops its children in order. If this process is killed, the kernel kills them: SIGKILL works on a
// stopped child too.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
