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

// TestRuns measures every goal, as far as that can be with a few Applications. It guards what does not depend on
// the machine; no time is asserted. So the runs may share the processors: most of their time they wait for calm.
func TestRuns(t *testing.T) {
	root := newRoot(t)
	// The longest is the first: as many run at once as there are processors.
	runs := []struct {
		name  string
		goals []string
		flags []string
		// met are the rows whose must is met.
		met []string
		// compared are rows with a ratio to their floor.
		compared []string
	}{
		{
			name:     "settled Applications",
			goals:    []string{"G3", "G4", "G5", "G6", "G7", "G9", "G10", "G12"},
			flags:    []string{"-n=20", "-step=1s", "-outage=1s", "-edits=6", "-expensive=8"},
			compared: []string{"G4 restart until idle, against bare informers", "G9 converged after an outage, against a raw replay"},
		},
		{
			name:  "counts",
			goals: []string{"G2", "G3", "G4"},
			flags: []string{"-n=200"},
			met: []string{
				"G2 writes of a new Application", "G2 Events of a new Application", "G2 reads outside of the informers",
				"G3 writes of a full resync", "G3 reads of a full resync",
				"G4 writes of a restart", "G4 reads outside of the informers",
			},
		},
		{
			name:  "new Applications",
			goals: []string{"G1", "G11", "G13"},
			flags: []string{"-n=20", "-soak=8s"},
			met:   []string{"G13 peak memory of the server (RSS)"},
			compared: []string{
				"G1 converge, against raw server-side apply", "G1 converge, against raw POST",
				"G13 list of views as a table, against the custom resource's", "G13 list of views in protobuf, against the custom resource in JSON",
			},
		},
	}
	for _, goal := range goalNames {
		found := false
		for _, r := range runs {
			found = found || slices.Contains(r.goals, goal)
		}
		if !found {
			t.Errorf("no run measures %s", goal)
		}
	}
	for _, r := range runs {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			rows := runBench(t, append(r.flags, "-root="+root, "-repeats=1", "-goals="+strings.Join(r.goals, ","))...)
			for _, goal := range r.goals {
				if !slices.ContainsFunc(rows, func(row report.Judged) bool { return row.Goal == goal }) {
					t.Errorf("%s has no row", goal)
				}
			}
			byName := map[string]report.Judged{}
			for _, row := range rows {
				byName[row.Goal+" "+row.What] = row
			}
			for _, name := range r.met {
				if row, found := byName[name]; !found || row.Verdict == report.Missed {
					t.Errorf("%s: measured %t, %g", name, found, row.Median)
				}
			}
			for _, name := range r.compared {
				if row := byName[name]; len(row.Ratio) == 0 || row.Ratio[0] <= 0 {
					t.Errorf("%s: the ratio to the floor %v is %v", name, row.Floor, row.Ratio)
				}
			}
		})
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
