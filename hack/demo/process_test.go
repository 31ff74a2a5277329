// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startScript runs a shell script that says "ready" when a signal may come, and returns once it did.
func startScript(t *testing.T, script string, died func(error)) *process {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "script")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := startProcess(file, filepath.Join(dir, "log"), died)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func untilLogged(t *testing.T, p *process, word string) {
	t.Helper()
	for {
		if strings.Contains(strings.Join(lastLines(p.log, 100), "\n"), word) {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("%s never said %q", p.name, word)
		}
	}
}

func nobodyDies(t *testing.T) func(error) {
	t.Helper()
	return func(err error) { t.Errorf("reported as died: %v", err) }
}

func TestProcessStops(t *testing.T) {
	p := startScript(t, `trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done`, nobodyDies(t))
	untilLogged(t, p, "ready")
	if !p.alive() {
		t.Error("the process is not alive")
	}
	if err := p.stop(t.Context()); err != nil {
		t.Error(err)
	}
	if p.alive() {
		t.Error("the process lives on")
	}
}

func TestProcessThatStopsWithAnError(t *testing.T) {
	p := startScript(t, `trap 'echo cannot; exit 3' TERM; echo ready; while :; do sleep 0.01; done`, nobodyDies(t))
	untilLogged(t, p, "ready")
	err := p.stop(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "cannot") {
		t.Errorf("stop returned %v, want the exit status and the last words", err)
	}
}

func TestProcessThatDoesNotStopIsKilled(t *testing.T) {
	p := startScript(t, `trap '' TERM; echo ready; while :; do sleep 0.01; done`, nobodyDies(t))
	untilLogged(t, p, "ready")
	patience := errors.New("no patience left")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, patience)
	defer cancel()
	if err := p.stop(ctx); !errors.Is(err, patience) {
		t.Errorf("stop returned %v, want %v", err, patience)
	}
	if p.alive() {
		t.Error("the process lives on")
	}
}

func TestProcessThatDiesIsReported(t *testing.T) {
	died := make(chan error, 1)
	p := startScript(t, `echo out of luck >&2; exit 4`, func(err error) { died <- err })
	if err := <-died; !strings.Contains(err.Error(), "exit status 4") || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("died with %v, want the exit status and the last words", err)
	}
	if err := p.stop(t.Context()); err == nil {
		t.Error("stop returned no error for a process that had died")
	}
}

func TestProcessWithoutBinary(t *testing.T) {
	_, err := startProcess(filepath.Join(t.TempDir(), "fairlead-controller"), os.DevNull, nobodyDies(t))
	if err == nil || !strings.Contains(err.Error(), "make demo") {
		t.Errorf("startProcess returned %v, want one that says how to build it", err)
	}
}
