// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// longEnough is how long a test waits for what must happen, and never reaches if it does.
const longEnough = time.Minute

func TestKillEndsAPausedProcess(t *testing.T) {
	p, unexpected := start(t, "exec sleep 1000")
	if err := p.Pause(); err != nil || p.State() != Paused {
		t.Fatalf("after Pause: state %s, error %v, want %s", p.State(), err, Paused)
	}
	if err := p.Kill(); err != nil || p.State() != Stopped {
		t.Fatalf("after Kill: state %s, error %v, want %s", p.State(), err, Stopped)
	}
	if len(unexpected) > 0 {
		t.Errorf("an exit that was asked for was reported: %v", <-unexpected)
	}
}

func TestTerminateLetsTheProcessFinish(t *testing.T) {
	p, _ := start(t, "trap 'echo finished; exit 0' TERM; echo started; while :; do sleep 0.01; done")
	waitForLog(t, p, "started")
	killed, err := p.Terminate(longEnough)
	if killed || err != nil {
		t.Fatalf("Terminate: killed %t, error %v, want neither", killed, err)
	}
	if log := Tail(p.LogFile(), 1); !slices.Equal(log, []string{"finished"}) {
		t.Errorf("last line of the log: %q, want finished", log)
	}
}

func TestTerminateKillsWhatDoesNotStop(t *testing.T) {
	p, _ := start(t, "trap '' TERM; echo started; while :; do sleep 0.01; done")
	waitForLog(t, p, "started")
	killed, err := p.Terminate(10 * time.Millisecond)
	if !killed || err != nil || p.State() != Stopped {
		t.Errorf("Terminate: killed %t, error %v, state %s, want it killed", killed, err, p.State())
	}
}

func TestUnexpectedExitIsReportedOnce(t *testing.T) {
	t.Run("after Supervise", func(t *testing.T) {
		p, unexpected := start(t, "read _ || exit 3")
		p.Supervise()
		wantReport(t, unexpected, "exit status 3")
	})
	t.Run("before Supervise", func(t *testing.T) {
		p, unexpected := start(t, "exit 4")
		<-p.Exited()
		p.Supervise()
		wantReport(t, unexpected, "exit status 4")
	})
	t.Run("not without Supervise", func(t *testing.T) {
		p, unexpected := start(t, "exit 5")
		<-p.Exited()
		if len(unexpected) > 0 {
			t.Errorf("reported: %v", <-unexpected)
		}
		if got := p.Exit().Error(); !strings.Contains(got, "exit status 5") {
			t.Errorf("Exit() = %q, want the exit status", got)
		}
	})
}

func TestStartAgain(t *testing.T) {
	p, _ := start(t, "echo life; exec sleep 1000")
	waitForLog(t, p, "life")
	first := p.PID()
	if err := p.Start(); err == nil {
		t.Error("a running process was started a second time")
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if p.PID() != 0 {
		t.Errorf("PID of a stopped process: %d, want 0", p.PID())
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if p.PID() == first {
		t.Errorf("PID %d is that of the first life", first)
	}
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if got := Tail(file, 3); got != nil {
		t.Errorf("a file that does not exist: got %q, want nothing", got)
	}
	var content strings.Builder
	for i := range 20_000 { // More than tailWindow.
		fmt.Fprintf(&content, "line %d\n", i)
	}
	if err := os.WriteFile(file, []byte(content.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := Tail(file, 2), []string{"line 19998", "line 19999"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// start runs a shell script that is killed when the test ends.
func start(t *testing.T, script string) (*Process, chan error) {
	t.Helper()
	unexpected := make(chan error, 10)
	p := New(Config{
		Name:             "child",
		Path:             "/bin/bash",
		Args:             []string{"-c", script},
		LogFile:          filepath.Join(t.TempDir(), "log"),
		OnUnexpectedExit: func(err error) { unexpected <- err },
	})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p, unexpected
}

func wantReport(t *testing.T, unexpected chan error, want string) {
	t.Helper()
	select {
	case err := <-unexpected:
		if !strings.Contains(err.Error(), want) {
			t.Errorf("report %q does not say %q", err, want)
		}
	case <-time.After(longEnough):
		t.Error("the exit was not reported")
	}
	if len(unexpected) > 0 {
		t.Errorf("reported again: %v", <-unexpected)
	}
}

func waitForLog(t *testing.T, p *Process, line string) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(longEnough)
	for !slices.Contains(Tail(p.LogFile(), 100), line) {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("the log never said %q", line)
		}
	}
}
