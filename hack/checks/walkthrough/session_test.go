// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package walkthrough

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// patience is how long a command may take, compiling included.
	patience = 5 * time.Minute
	// stopPatience is how long a lasting command may take to stop.
	stopPatience = time.Minute
	// exampleDirectory stands in the documents for a directory of the reader's choice.
	exampleDirectory = "/tmp/fairlead"
)

// session is a reader's terminal: a directory, an environment, and what runs in the background.
type session struct {
	t           *testing.T
	environment []string
	directory   string
}

func newSession(t *testing.T, tools, kubeconfig string) *session {
	t.Helper()
	directory, err := os.MkdirTemp("", "walk") //nolint:usetesting // t.TempDir's name is too long for the path of a socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	path := tools + string(os.PathListSeparator) + os.Getenv("PATH")
	return &session{t: t, directory: directory, environment: append(plainEnvironment(), "PATH="+path, "KUBECONFIG="+kubeconfig)}
}

// plainEnvironment is the environment without what `make test` puts there: a make that is run
// inside would take the ARGS of the one outside for its own.
func plainEnvironment() []string {
	var environment []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !slices.Contains([]string{"ARGS", "ONCE", "MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS"}, name) {
			environment = append(environment, variable)
		}
	}
	return environment
}

// do runs a command as the reader would, and ends the test if it fails.
func (s *session) do(command string) {
	s.t.Helper()
	command = strings.ReplaceAll(command, exampleDirectory, filepath.Join(s.directory, "data"))
	s.t.Logf("$ %s", command)
	if assignment, isExport := strings.CutPrefix(command, "export "); isExport {
		s.export(command, assignment)
		return
	}
	for prefix, ready := range lasting {
		if strings.HasPrefix(command, prefix) {
			s.start(command, ready)
			return
		}
	}
	output, err := s.run(command, "")
	if err != nil {
		s.t.Fatalf("%v\n%s", err, output)
	}
	s.t.Logf("%s", output)
}

// export keeps a variable, as the shell expands it, for the commands that follow.
func (s *session) export(command, assignment string) {
	s.t.Helper()
	name, _, _ := strings.Cut(assignment, "=")
	value, err := s.run(command+`; printf %s "$`+name+`"`, "")
	if err != nil {
		s.t.Fatalf("%v\n%s", err, value)
	}
	s.environment = append(s.environment, name+"="+value)
}

// run runs a command to its end.
func (s *session) run(command, input string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(s.t.Context(), patience, fmt.Errorf("it took longer than %s", patience))
	defer cancel()
	process := s.process(ctx, command)
	process.Stdin = strings.NewReader(input)
	output, err := process.CombinedOutput()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return string(output), err
}

// start starts a command that lasts, waits until it is ready, and stops it when the test ends,
// as Ctrl-C would.
func (s *session) start(command, ready string) {
	s.t.Helper()
	output := newWatched(ready)
	process := s.process(context.WithoutCancel(s.t.Context()), command)
	process.Stdout, process.Stderr = output, output
	if err := process.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	s.t.Cleanup(func() {
		if err := stop(process, ended); err != nil {
			s.t.Errorf("stop %q: %v\n%s", command, err, output)
		}
	})
	select {
	case <-output.ready:
	case err := <-ended:
		ended <- err
		s.t.Fatalf("%q ended: %v\n%s", command, err, output)
	case <-time.After(patience):
		s.t.Fatalf("%q did not print %q within %s; it printed\n%s", command, ready, patience, output)
	}
}

// stop sends the signal of Ctrl-C to the whole group of processes. What make makes of the signal
// is no matter; that it is over is.
func stop(process *exec.Cmd, ended <-chan error) error {
	if err := syscall.Kill(-process.Process.Pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-time.After(stopPatience):
		return errors.Join(fmt.Errorf("it still runs %s after SIGINT", stopPatience), syscall.Kill(-process.Process.Pid, syscall.SIGKILL))
	}
}

func (s *session) process(ctx context.Context, command string) *exec.Cmd {
	process := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
	process.Dir = root
	process.Env = s.environment
	// A group of its own, so that a signal reaches what make and go run start.
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	process.WaitDelay = 10 * time.Second
	return process
}

// watched is an output that tells when it has a text.
type watched struct {
	text  string
	ready chan struct{}

	mu     sync.Mutex
	output bytes.Buffer
	seen   bool
}

func newWatched(text string) *watched {
	return &watched{text: text, ready: make(chan struct{})}
}

// Write is called by the process.
func (w *watched) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.output.Write(data)
	if !w.seen && strings.Contains(w.output.String(), w.text) {
		w.seen = true
		close(w.ready)
	}
	return len(data), nil
}

// String returns everything so far.
func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.output.String()
}
