// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startScript runs a shell script.
func startScript(t *testing.T, script string, died func(error)) *Process {
	t.Helper()
	p, err := Start(exec.Command("/bin/sh", "-c", script), filepath.Join(t.TempDir(), "script.log"), died)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// untilReady waits until the script has said that a signal may come.
func untilReady(t *testing.T, p *Process) {
	t.Helper()
	if _, err := p.AwaitLog(t.Context(), regexp.MustCompile("ready\n")); err != nil {
		t.Fatal(err)
	}
}

func nobodyDies(t *testing.T) func(error) {
	t.Helper()
	return func(err error) { t.Errorf("reported as died: %v", err) }
}

func TestStop(t *testing.T) {
	p := startScript(t, `trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done`, nobodyDies(t))
	untilReady(t, p)
	if err := p.Err(); err != nil {
		t.Errorf("the process lives, but %v", err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if p.Err() == nil {
		t.Error("the process lives on")
	}
}

func TestStopWithAnError(t *testing.T) {
	p := startScript(t, `trap 'echo cannot; exit 3' TERM; echo ready; while :; do sleep 0.01; done`, nobodyDies(t))
	untilReady(t, p)
	err := p.Stop(t.Context())
	if err == nil || !strings.Contains(err.Error(), "script ended (exit status 3)") || !strings.Contains(err.Error(), "cannot") {
		t.Errorf("Stop returned %v, want the exit status and the last words", err)
	}
}

func TestStopKillsWhatDoesNotStop(t *testing.T) {
	p := startScript(t, `trap '' TERM; echo ready; while :; do sleep 0.01; done`, nobodyDies(t))
	untilReady(t, p)
	patience := errors.New("no patience left")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, patience)
	defer cancel()
	if err := p.Stop(ctx); !errors.Is(err, patience) {
		t.Errorf("Stop returned %v, want %v", err, patience)
	}
	if p.Err() == nil {
		t.Error("the process lives on")
	}
}

func TestDeathIsReported(t *testing.T) {
	died := make(chan error, 1)
	p := startScript(t, `echo out of luck >&2; exit 4`, func(err error) { died <- err })
	if err := <-died; !strings.Contains(err.Error(), "exit status 4") || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("died with %v, want the exit status and the last words", err)
	}
	if err := p.Stop(t.Context()); err == nil {
		t.Error("Stop returned no error for a process that had died")
	}
	if _, err := p.AwaitLog(t.Context(), regexp.MustCompile("in luck")); err == nil || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("AwaitLog returned %v, want the end of the process", err)
	}
}

func TestStartOfNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := Start(exec.Command(filepath.Join(dir, "none")), filepath.Join(dir, "fairlead.log"), nobodyDies(t))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "start fairlead") || !strings.Contains(err.Error(), "make target") {
		t.Errorf("got %v", err)
	}
}

func TestTail(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if got := Tail(log); got != "" {
		t.Errorf("of a file that does not exist: %q", got)
	}
	for _, test := range []struct{ name, content, want string }{
		{"nothing", "\n", ""},
		{"two lines", "a\nb\n", "    a\n    b"},
		{"many", strings.Repeat("before\n", 100) + strings.Repeat("x\n", 12), strings.TrimSuffix(strings.Repeat("    x\n", 12), "\n")},
		{"a long one", strings.Repeat("x", 1000), "    " + strings.Repeat("x", 240) + " …"},
	} {
		if err := os.WriteFile(log, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Tail(log); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestUntilSignal(t *testing.T) {
	ctx, stop := UntilSignal(t.Context())
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, ErrInterrupted) {
		t.Errorf("ended because of %v", err)
	}
}
