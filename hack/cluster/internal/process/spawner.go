// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"os/exec"
	"runtime"
)

// Spawner starts child processes that the kernel kills when this process dies, however it dies.
//
// The kernel offers this (PR_SET_PDEATHSIG) per operating-system thread: a child is killed when the *thread* that forked
// it ends. Go ends threads when it likes, so all children are forked from one thread that one goroutine keeps for itself.
type Spawner struct {
	requests chan request
}

type request struct {
	cmd    *exec.Cmd
	result chan error
}

// NewSpawner starts the goroutine that owns the thread. Close ends it.
func NewSpawner() *Spawner {
	s := &Spawner{requests: make(chan request)}
	go s.run()
	return s
}

// Start is cmd.Start on the spawner's thread. It puts the child into a process group of its own, so that a Ctrl-C on the
// terminal reaches only the supervisor, which then stops its children in order.
func (s *Spawner) Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = childAttributes()
	r := request{cmd: cmd, result: make(chan error, 1)}
	s.requests <- r
	return <-r.result
}

// Close ends the thread, and with it every child that still runs. Start must not be called afterwards.
func (s *Spawner) Close() {
	close(s.requests)
}

func (s *Spawner) run() {
	runtime.LockOSThread() // Never unlocked: the runtime then ends the thread together with this goroutine.
	for r := range s.requests {
		r.result <- r.cmd.Start()
	}
}
