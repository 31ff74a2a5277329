// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// builtVersion is what the build stamps into the binary.
const builtVersion = "v1.2.3-process.test"

// program is the binary of the command.
type program struct{ path, home string }

// build compiles the command, as hack/build.sh does.
func build(t *testing.T) program {
	t.Helper()
	p := program{path: filepath.Join(t.TempDir(), "fairlead-controller"), home: t.TempDir()}
	command := exec.CommandContext(t.Context(), "go", "-C", "..", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion="+builtVersion, "-o", p.path, ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, output)
	}
	return p
}

// process is a process of the program.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	output *lockedBuffer // standard output and standard error
	done   chan struct{} // closed when the process is gone; err is complete then
	err    error
}

// start starts a process without any configuration but its arguments. It does not outlive the test.
func (p program) start(t *testing.T, args ...string) *process {
	t.Helper()
	r := &process{t: t, output: &lockedBuffer{}, done: make(chan struct{})}
	r.cmd = exec.Command(p.path, args...)
	r.cmd.Env = []string{"HOME=" + p.home}
	r.cmd.Stdout, r.cmd.Stderr = r.output, r.output
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		r.err = r.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.done
	})
	return r
}

func (r *process) signal(signal os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(signal); err != nil {
		r.t.Fatalf("send %s: %v\n%s", signal, err, r.output)
	}
}

// waitFor waits until the process has said the text.
func (r *process) waitFor(text string) {
	r.t.Helper()
	err := wait.PollUntilContextTimeout(r.t.Context(), period, patience, true, func(context.Context) (bool, error) {
		if strings.Contains(r.output.String(), text) {
			return true, nil
		}
		select {
		case <-r.done:
			return false, errors.New("the process has ended")
		default:
			return false, nil
		}
	})
	if err != nil {
		r.t.Fatalf("waited for %q: %v\n%s", text, err, r.output)
	}
}

// exits waits for the end of the process and wants the exit code.
func (r *process) exits(code int) {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		r.t.Fatalf("the process did not end within %s\n%s", patience, r.output)
	}
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.t.Errorf("exit code %d (%v), want %d\n%s", got, r.err, code, r.output)
	}
}

// says wants the text among what a process said that has ended. The log escapes quotes.
func (r *process) says(text string) {
	r.t.Helper()
	if !strings.Contains(strings.ReplaceAll(r.output.String(), `\"`, `"`), text) {
		r.t.Errorf("it does not say %q, but\n%s", text, r.output)
	}
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
