// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"fairlead.dev/fairlead/hack/bench/internal/report"
)

func TestMain(m *testing.M) {
	discardLogs()
	if len(os.Args) > 1 && os.Args[1] == bareCommand {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) // This is the child process that fills caches.
	}
	goleak.VerifyTestMain(m)
}

// TestCounts holds the counts of requests, which do not depend on the machine, to what they must be.
func TestCounts(t *testing.T) {
	rows := runBench(t, "-n=200", "-repeats=1", "-goals=G2,G3,G4", "-root="+newRoot(t))
	for _, name := range []string{
		"G2 writes of a new Application", "G2 Events of a new Application", "G2 reads outside of the informers",
		"G3 writes of a full resync", "G3 reads of a full resync",
		"G4 writes of a restart", "G4 reads outside of the informers",
	} {
		i := slices.IndexFunc(rows, func(row report.Judged) bool { return row.Goal+" "+row.What == name })
		if i < 0 || rows[i].Verdict == report.Missed {
			t.Errorf("%s: measured %t, rows %+v", name, i >= 0, rows)
		}
	}
}

// .ci/run measures every goal once, with a few Applications. A goal without a figure is an error.
func TestEveryGoalRuns(t *testing.T) {
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if want := "-goals=" + strings.Join(goalNames, ","); !strings.Contains(string(ci), want) {
		t.Errorf(".ci/run does not run make bench with %s", want)
	}
}

func TestUnmeasuredGoal(t *testing.T) {
	b := &bench{options: &options{goals: []string{"G2", "G3"}}}
	b.add(
		report.Row{Goal: "G2", What: "writes", Measured: report.Sample{1}},
		report.Row{Goal: "G3", What: "reads"},
	)
	if err := b.complete(); err == nil || err.Error() != "G3 was not measured" {
		t.Errorf("complete returns %v", err)
	}
	b.options.goals = b.options.goals[:1]
	if err := b.complete(); err != nil {
		t.Errorf("complete returns %v", err)
	}
	b.add(report.Row{Goal: "G2", What: "rate", Unit: "/s", Measured: report.Sample{0}, Floor: report.Sample{3}})
	if err := b.complete(); err != nil {
		t.Errorf("where no rate was held, complete returns %v", err)
	}
	b.add(report.Row{Goal: "G2", What: "time", Measured: report.Sample{1}, Floor: report.Sample{0}})
	if err := b.complete(); err == nil {
		t.Error("a figure without a ratio to its floor is no error")
	}
}

// newRoot is a directory to run in: with controller and API server compiled as make does, and the artifacts of the source tree.
func newRoot(t *testing.T) string {
	t.Helper()
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Symlink(filepath.Join(source, "artifacts"), filepath.Join(root, "artifacts")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fairlead-controller", "fairlead-apiserver"} {
		command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(root, "bin", name), "./cmd/"+name)
		command.Dir = source
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, output)
		}
	}
	return root
}

// runBench runs the command and returns the rows of its report.
func runBench(t *testing.T, args ...string) []report.Judged {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	var out, errOut strings.Builder
	code := run(append(args, "-json="+file), &out, &errOut)
	t.Logf("%s\n%s", errOut.String(), out.String())
	if code != 0 {
		t.Fatalf("it ended with code %d", code)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var written struct{ Rows []report.Judged }
	if err := json.Unmarshal(content, &written); err != nil {
		t.Fatal(err)
	}
	for _, row := range written.Rows {
		if !strings.Contains(out.String(), row.What) {
			t.Errorf("the table does not have %q", row.What)
		}
	}
	return written.Rows
}
