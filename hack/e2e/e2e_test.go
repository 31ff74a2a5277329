// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fairlead.dev/fairlead/pkg/testing/auditlog"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestParseOptions(t *testing.T) {
	root := "../.."
	tests := []struct {
		name string
		args []string
		err  string
	}{
		{name: "nothing but the root"},
		{name: "all", args: []string{"-dir=/somewhere", "-stay", "-keep"}},
		{name: "another root", args: []string{"-root=" + t.TempDir()}, err: "is not the repository"},
		{name: "a directory that is no release", args: []string{"-dist=" + t.TempDir()}, err: "is not a release"},
		{name: "an argument", args: []string{"now"}, err: `unexpected argument "now"`},
		{name: "neighbours", args: []string{"-beside=traefik,metrics-server"}},
		{name: "a neighbour that is none", args: []string{"-beside=traefik,other"}, err: `-beside: "other" is unknown`},
		{name: "a stage that is none", args: []string{"-stage=other"}, err: "-stage"},
		{name: "help", args: []string{"-help"}, err: flag.ErrHelp.Error()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := parseOptions(append([]string{"-root=" + root}, test.args...), io.Discard)
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, want %q", err, test.err)
			}
		})
	}
}

// TestStageHasTheSameOptions holds for the process in a sandbox.
func TestStageHasTheSameOptions(t *testing.T) {
	dist := t.TempDir()
	if err := os.WriteFile(filepath.Join(dist, "install.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parseOptions([]string{"-root=../..", "-dir=/somewhere", "-dist=" + dist, "-stay", "-beside=metrics-server,traefik"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	stage, err := parseOptions(o.args(stageStory), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o.stage = stageStory
	if diff := cmp.Diff(o, stage, cmp.AllowUnexported(options{})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestPreflightTellsWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	lacking := preflight(options{root: t.TempDir()})
	text := lacking.Error()
	for _, want := range []string{"apt-get install", "containerd runc iptables conntrack iproute2 buildah", "bin/fairlead-node: make e2e builds it"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// TestEnvironmentOfMake: a make that the test runs must not take the ARGS of the make that runs the test.
func TestEnvironmentOfMake(t *testing.T) {
	t.Setenv("ARGS", "-keep")
	t.Setenv("MAKEFLAGS", " -- ARGS=-keep")
	t.Setenv("KEPT", "kept")
	makefile := filepath.Join(t.TempDir(), "Makefile")
	if err := os.WriteFile(makefile, []byte("all:\n\t@echo \"$(ARGS)$$ARGS $$KEPT\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		environment []string
		want        string
	}{
		{os.Environ(), "-keep-keep kept\n"},
		{withoutMake(os.Environ()), " kept\n"},
	} {
		cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "--file="+makefile)
		cmd.Env = test.environment
		if output, err := cmd.CombinedOutput(); err != nil || string(output) != test.want {
			t.Errorf("got %q, %v, want %q", output, err, test.want)
		}
	}
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "e2e")
	unlock, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(dir); err == nil {
		t.Error("two runs got the same directory")
	}
	unlock()
	unlock, err = lock(dir)
	if err != nil {
		t.Fatalf("after the end of the first one: %v", err)
	}
	unlock()
}

func TestKeepAsking(t *testing.T) {
	var asked atomic.Int32
	enough := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		if n == 3 {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "7")
		if n == 10 {
			close(enough)
		}
	}))
	defer server.Close()
	got, stop := keepAsking(t.Context(), server.URL)
	<-enough
	stop()
	stop() // A step stops it when it has seen enough, and again at its end.
	if counts := got.counts(); counts["7"] != int(asked.Load())-1 || len(counts) != 1 {
		t.Errorf("got %v of %d", counts, asked.Load())
	}
	if err := got.check(); err == nil || !strings.Contains(err.Error(), "1 requests failed") || !strings.Contains(err.Error(), "503 Service Unavailable: not now") {
		t.Errorf("got %v", err)
	}
}

func TestAnswersInWords(t *testing.T) {
	a := &answers{bodies: map[string]int{"2": 5, "1": 3}}
	if got, want := a.String(), "3 × version 1, 5 × version 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIsChildWrite(t *testing.T) {
	const operator = "system:serviceaccount:fairlead-system:fairlead-controller"
	tests := []struct {
		name  string
		event auditlog.Event
		want  bool
	}{
		{"a child", auditlog.Event{Verb: "patch", User: operator, Namespace: namespace, APIGroup: "apps", Resource: "deployments"}, true},
		{"a child of the core group", auditlog.Event{Verb: "create", User: operator, Namespace: namespace, Resource: "services"}, true},
		{"reading", auditlog.Event{Verb: "watch", User: operator, Namespace: namespace, APIGroup: "apps", Resource: "deployments"}, false},
		{"a status", auditlog.Event{Verb: "patch", User: operator, Namespace: namespace, APIGroup: "apps.fairlead.dev", Resource: "applications", Subresource: "status"}, false},
		{"an Event", auditlog.Event{Verb: "create", User: operator, Namespace: namespace, APIGroup: "events.k8s.io", Resource: "events"}, false},
		{"its Lease", auditlog.Event{Verb: "update", User: operator, Namespace: operatorNamespace, APIGroup: "coordination.k8s.io", Resource: "leases"}, false},
		{"another one", auditlog.Event{Verb: "patch", User: "system:node:node-1", Namespace: namespace, APIGroup: "apps", Resource: "deployments"}, false},
	}
	for _, test := range tests {
		if got := isChildWrite(&test.event); got != test.want {
			t.Errorf("%s: got %t", test.name, got)
		}
	}
}
