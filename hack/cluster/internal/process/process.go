// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process runs one supervised child process that can be killed, paused, terminated and started again.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// State says what a Process is doing.
type State string

const (
	// Stopped means never started, or ended.
	Stopped State = "stopped"
	// Running means started and not paused; it does not mean ready to serve.
	Running State = "running"
	// Paused means stopped by SIGSTOP: the process exists and answers nothing.
	Paused State = "paused"
)

// Config describes the child. All fields but Env are needed.
type Config struct {
	Name    string
	Path    string
	Args    []string // without the program name
	Env     []string
	LogFile string // stdout and stderr are appended to it

	// OnUnexpectedExit is called once for each supervised life that ends before Kill or Terminate.
	OnUnexpectedExit func(error)
}

// Process is a child that may live several times, and that the kernel kills when this process dies, however it dies. Its
// methods may be called concurrently.
type Process struct {
	config Config

	mu    sync.Mutex
	child *life // nil before the first start
}

// life is the time between one start and its exit.
type life struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed after the exit

	// Guarded by Process.mu.
	supervised bool // report an exit that was not asked for
	asked      bool // the exit was asked for
	paused     bool
}

// New describes a process without starting it.
func New(config Config) *Process { return &Process{config: config} }

// LogFile returns the file that receives the child's output.
func (p *Process) LogFile() string { return p.config.LogFile }

// Start begins a new life, not yet supervised. It fails if the previous one has not ended.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state() != Stopped {
		return fmt.Errorf("start %s: it is already %s", p.config.Name, p.state())
	}

	log, err := os.OpenFile(p.config.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: open its log: %w", p.config.Name, err)
	}
	defer func() { _ = log.Close() }() // The child holds its own descriptor.

	child := &life{exited: make(chan struct{}), cmd: &exec.Cmd{
		Path:        p.config.Path,
		Args:        append([]string{p.config.Path}, p.config.Args...),
		Env:         p.config.Env,
		Stdout:      log,
		Stderr:      log,
		SysProcAttr: childAttributes(),
	}}
	started := make(chan error, 1)
	go p.live(child, started)
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", p.config.Name, err)
	}
	p.child = child
	return nil
}

// live starts the child and waits for its end, both on one thread of the operating system that lasts as long: the kernel
// ties the life of the child to the thread that started it.
func (p *Process) live(child *life, started chan<- error) {
	runtime.LockOSThread() // Never unlocked: the thread ends with this goroutine.
	err := child.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = child.cmd.Wait() // The exit is in ProcessState.
	close(child.exited)

	p.mu.Lock()
	unexpected := child.supervised && !child.asked
	p.mu.Unlock()
	if unexpected {
		p.config.OnUnexpectedExit(child.exit())
	}
}

// Supervise says that the child has started well: from now on, an exit before Kill or Terminate is reported. Until then,
// the caller watches Exited while it waits for the child to become ready.
func (p *Process) Supervise() {
	p.mu.Lock()
	child := p.child
	ended := p.state() == Stopped
	// After an exit, live may already have looked at supervised, or may be about to: only one of us may report.
	child.supervised = !ended
	asked := child.asked
	p.mu.Unlock()
	if ended && !asked {
		p.config.OnUnexpectedExit(child.exit())
	}
}

// Exit describes how the last life ended. It must not be called before Exited is closed.
func (p *Process) Exit() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.child.exit()
}

func (l *life) exit() error { return fmt.Errorf("it ended by itself (%s)", l.cmd.ProcessState) }

// State returns what the child does now.
func (p *Process) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state()
}

func (p *Process) state() State {
	if p.child == nil {
		return Stopped
	}
	select {
	case <-p.child.exited:
		return Stopped
	default:
	}
	if p.child.paused {
		return Paused
	}
	return Running
}

// PID returns the process ID of the current life, or 0 if there is none.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state() == Stopped {
		return 0
	}
	return p.child.cmd.Process.Pid
}

// Exited returns a channel that is closed when the current life has ended.
func (p *Process) Exited() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == nil {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	return p.child.exited
}

// Kill sends SIGKILL and waits until the child is gone.
func (p *Process) Kill() error {
	child, err := p.end(syscall.SIGKILL)
	if err != nil || child == nil {
		return err
	}
	<-child.exited
	return nil
}

// Terminate sends SIGTERM and waits until the child is gone. When that takes longer than grace it kills the child, and
// says so.
func (p *Process) Terminate(grace time.Duration) (killed bool, err error) {
	child, err := p.end(syscall.SIGTERM)
	if err != nil || child == nil {
		return false, err
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-child.exited:
		return false, nil
	case <-timer.C:
		return true, p.Kill()
	}
}

// end marks the exit as asked for and sends the signal. It returns nil if there is no child.
func (p *Process) end(signal syscall.Signal) (*life, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state() == Stopped {
		return nil, nil
	}
	p.child.asked = true
	if err := p.signal(signal); err != nil {
		return nil, err
	}
	// A paused process handles nothing but SIGKILL until it is resumed.
	return p.child, p.signal(syscall.SIGCONT)
}

// Pause sends SIGSTOP and waits until the process has stopped: it keeps its connections and ports and answers nothing.
func (p *Process) Pause() error { return p.setPaused(syscall.SIGSTOP, true) }

// Resume sends SIGCONT after a Pause.
func (p *Process) Resume() error { return p.setPaused(syscall.SIGCONT, false) }

func (p *Process) setPaused(signal syscall.Signal, paused bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state() == Stopped {
		return fmt.Errorf("send %s to %s: it is not running", signal, p.config.Name)
	}
	if err := p.signal(signal); err != nil {
		return err
	}
	p.child.paused = paused
	if paused {
		// Each thread stops on its own, and until the last one has, the process may still answer.
		if err := waitStopped(p.child.cmd.Process.Pid); err != nil {
			return fmt.Errorf("wait until %s has stopped: %w", p.config.Name, err)
		}
	}
	return nil
}

func (p *Process) signal(signal syscall.Signal) error {
	err := p.child.cmd.Process.Signal(signal)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to %s: %w", signal, p.config.Name, err)
	}
	return nil
}
