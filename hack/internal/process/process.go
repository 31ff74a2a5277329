// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process runs child processes that do not outlive this one, with their output in log files.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is a child process.
type Process struct {
	// Cmd is what was started. It says how it ended once Err returns an error.
	Cmd *exec.Cmd
	// Log is the file with its output.
	Log string
	// Began is when it was started.
	Began time.Time

	exited chan struct{}
	asked  atomic.Bool
}

// Start starts a child with a new log file, after which errors name it; with no log, the child writes where cmd says.
// died, unless nil, is called with the reason when the child ends before Stop. cmd must not be bound to a context: that
// would kill where Stop asks.
func Start(cmd *exec.Cmd, log string, died func(error)) (*Process, error) {
	if log != "" {
		output, err := os.Create(log)
		if err != nil {
			return nil, err
		}
		defer output.Close() // The child has its own descriptor.
		cmd.Stdout, cmd.Stderr = output, output
	}
	p := &Process{Cmd: cmd, Log: log, exited: make(chan struct{})}
	cmd.SysProcAttr = childAttributes()
	started := make(chan error, 1)
	go p.live(started, died)
	if err := <-started; errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("start %s: %w; the make target of this program builds it", p.name(), err)
	} else if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name(), err)
	}
	return p, nil
}

// live starts the child and waits for its end, both on one thread of the operating system that lasts as long: the kernel
// ties the life of the child to the thread that started it.
func (p *Process) live(started chan<- error, died func(error)) {
	runtime.LockOSThread() // Never unlocked: the thread ends with this goroutine.
	p.Began = time.Now()
	err := p.Cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.Cmd.Wait() // How it ended is in ProcessState.
	close(p.exited)
	if died != nil && !p.asked.Load() {
		died(p.Err())
	}
}

func (p *Process) name() string {
	if p.Log == "" {
		return filepath.Base(p.Cmd.Path)
	}
	return strings.TrimSuffix(filepath.Base(p.Log), ".log")
}

// Err describes how the child has ended, with what it said last. While it lives, there is no error.
func (p *Process) Err() error {
	select {
	case <-p.exited:
	default:
		return nil
	}
	if said := Tail(p.Log); said != "" {
		return fmt.Errorf("%s ended (%s); the last lines of its log:\n%s", p.name(), p.Cmd.ProcessState, said)
	}
	return fmt.Errorf("%s ended (%s) and said nothing", p.name(), p.Cmd.ProcessState)
}

// Signal sends a signal to the child and what it has started. It can fail only if they have ended.
func (p *Process) Signal(signal syscall.Signal) { _ = syscall.Kill(-p.Cmd.Process.Pid, signal) }

// Stop asks the child to end, and waits for that as Wait does. A child that has ended before is an error.
func (p *Process) Stop(ctx context.Context) error {
	ended := p.Err()
	p.asked.Store(true)
	if ended != nil {
		return ended
	}
	p.Signal(syscall.SIGTERM)
	return p.Wait(ctx)
}

// Wait waits for the end of the child, and returns an error unless it is a good one. When ctx ends before, the child is
// killed.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.Signal(syscall.SIGKILL)
		<-p.exited
		return fmt.Errorf("%s did not end and was killed: %w", p.name(), context.Cause(ctx))
	}
	if !p.Cmd.ProcessState.Success() {
		return p.Err()
	}
	return nil
}

// AwaitLog waits until the child has logged what the pattern matches, and returns the match and its groups.
func (p *Process) AwaitLog(ctx context.Context, pattern *regexp.Regexp) ([]string, error) {
	const period = 5 * time.Millisecond
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		ended := p.Err() // Before the log is read: it is complete then.
		content, err := os.ReadFile(p.Log)
		if err != nil {
			return nil, err
		}
		if found := pattern.FindStringSubmatch(string(content)); found != nil {
			return found, nil
		}
		if ended != nil {
			return nil, ended
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Tail returns the last lines of a log, indented for an error. A file that cannot be read has none: the caller is about to
// report something worse.
func Tail(log string) string {
	const (
		most  = 12  // lines
		width = 240 // bytes of each
	)
	content, err := os.ReadFile(log)
	said := strings.TrimSpace(string(content))
	if err != nil || said == "" {
		return ""
	}
	lines := strings.Split(said, "\n")
	lines = lines[max(0, len(lines)-most):]
	for i, line := range lines {
		if len(line) > width {
			lines[i] = strings.ToValidUTF8(line[:width], "") + " …"
		}
	}
	return "    " + strings.Join(lines, "\n    ")
}
