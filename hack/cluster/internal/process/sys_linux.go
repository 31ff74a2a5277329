// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttributes put the child into a process group of its own, so that a Ctrl-C on the terminal reaches only the
// supervisor, which then stops its children in order.
func childAttributes() *syscall.SysProcAttr {
	// SIGKILL works on a stopped child too, and cannot be ignored.
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitStopped returns when all threads of a child that was sent SIGSTOP have stopped, or the child has ended.
func waitStopped(pid int) error {
	for {
		// WNOWAIT leaves the exit of the child to cmd.Wait.
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD): // Reaped already.
			return nil
		default:
			return err
		}
	}
}
