// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a child process, whose processor time and memory are its own. Its output goes to a file.
type process struct {
	name   string
	log    string
	cmd    *exec.Cmd
	began  time.Time
	exited chan struct{}
	err    error // how it ended; complete once exited is closed
	asked  atomic.Bool
}

// startProcess starts a child that does not outlive this process.
func startProcess(cmd *exec.Cmd, log string) (*process, error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer output.Close() // The child has its own descriptor.
	p := &process{name: filepath.Base(cmd.Path), log: log, cmd: cmd, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = childAttributes()
	started := make(chan error, 1)
	go p.live(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return p, nil
}

// live starts the child and waits for its end, both on one thread of the operating system that lasts as long: the kernel
// ties the life of the child to the thread that started it.
func (p *process) live(started chan<- error) {
	runtime.LockOSThread() // Never unlocked: the thread ends with this goroutine.
	p.began = time.Now()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.exited)
}

// alive returns why the child has ended although nobody asked it to, or nil.
func (p *process) alive() error {
	select {
	case <-p.exited:
		return fmt.Errorf("%s ended by itself (%s); its log ends with:\n%s", p.name, p.cmd.ProcessState, p.said())
	default:
		return nil
	}
}

// stopTimeout is more than the controller takes to drain its workers.
const stopTimeout = 30 * time.Second

// stop asks the child to end, and kills it if it does not.
func (p *process) stop() error {
	if p.asked.Swap(true) {
		return nil
	}
	if err := p.alive(); err != nil {
		return err
	}
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		p.signal(syscall.SIGKILL)
		<-p.exited
		return fmt.Errorf("%s did not end within %s after SIGTERM and was killed", p.name, stopTimeout)
	}
	if p.err != nil {
		return fmt.Errorf("%s ended badly (%w); its log ends with:\n%s", p.name, p.err, p.said())
	}
	return nil
}

// signal sends a signal to the child and what it has started. It can fail only if they have ended.
func (p *process) signal(signal syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, signal) }

// said is the end of the log.
func (p *process) said() string {
	const lines = 8
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(content)), "\n")
	return "    " + strings.Join(all[max(0, len(all)-lines):], "\n    ")
}

// errEnded is the end of waiting for what a process says that is gone.
var errEnded = errors.New("the process has ended")

// awaitLog waits until the log has a line with the text, and returns the line.
func (p *process) awaitLog(ctx context.Context, text string) (string, error) {
	const period = 5 * time.Millisecond
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		content, err := os.ReadFile(p.log)
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, text) {
				return line, nil
			}
		}
		if err := p.alive(); err != nil {
			return "", errors.Join(errEnded, err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
