// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
)

// process is a child process whose output goes to a log file.
type process struct {
	name   string
	log    string
	cmd    *exec.Cmd
	stdin  io.Closer // open as long as the child should live
	exited chan struct{}
	err    error // how it ended; complete once exited is closed
	asked  atomic.Bool
}

// startProcess starts a child that does not outlive this process. When it ends by itself, died is called with the reason.
func startProcess(binary, log string, died func(error), args ...string) (_ *process, err error) {
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: build it with `make demo`", err)
	}
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer output.Close() // The child has its own descriptor.
	p := &process{name: filepath.Base(binary), log: log, exited: make(chan struct{})}
	p.cmd = exec.Command(binary, args...) // Not CommandContext: that would kill where stop asks.
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.SysProcAttr = childAttributes()
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	go p.live(started, died)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return p, nil
}

// live starts the child and waits for its end, both on one thread of the operating system that lasts as long: the kernel
// ties the life of the child to the thread that started it.
func (p *process) live(started chan<- error, died func(error)) {
	runtime.LockOSThread() // Never unlocked: the thread ends with this goroutine.
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.exited)
	if !p.asked.Load() {
		died(p.ended())
	}
}

// stop asks the child to end, waits until it has, and returns an error unless it ended well. A child that takes longer
// than ctx is killed.
func (p *process) stop(ctx context.Context) error {
	alive := p.alive()
	p.asked.Store(true)
	if !alive {
		return p.ended()
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		_ = p.cmd.Process.Kill() // It can only have ended meanwhile.
		<-p.exited
		return fmt.Errorf("%s did not end after SIGTERM and was killed: %w", p.name, context.Cause(ctx))
	}
	if p.err != nil {
		return p.ended()
	}
	return nil
}

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// ended describes the end, with what the child said last. It must not be called before exited is closed.
func (p *process) ended() error {
	said := lastLines(p.log, 8)
	if len(said) == 0 {
		return fmt.Errorf("%s ended (%s) and said nothing", p.name, p.cmd.ProcessState)
	}
	return fmt.Errorf("%s ended (%s); the last lines of its log:\n    %s", p.name, p.cmd.ProcessState, strings.Join(said, "\n    "))
}

// lastLines returns the last lines of a file, or none if it cannot be read: the caller is about to report something worse.
func lastLines(file string, count int) []string {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines[max(0, len(lines)-count):]
}
