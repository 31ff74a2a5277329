// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"fairlead.dev/fairlead/hack/bench/internal/report"
)

const root = "../.."

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buildController compiles what is measured as make build does.
func buildController(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "fairlead-controller")
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "./cmd/fairlead-controller")
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build the controller: %v\n%s", err, output)
	}
	return binary
}

// runBench runs the command and returns its rows, by goal and what was measured.
func runBench(t *testing.T, args ...string) map[string]report.Judged {
	t.Helper()
	t.Setenv(controllerEnv, buildController(t))
	file := filepath.Join(t.TempDir(), "report.json")
	var out, errOut strings.Builder
	code := run(append(args, "-root="+root, "-json="+file), &out, &errOut)
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
	rows := map[string]report.Judged{}
	for _, row := range written.Rows {
		if !strings.Contains(out.String(), row.What) {
			t.Errorf("the table does not have %q", row.What)
		}
		rows[row.Goal+" "+row.What] = row
	}
	return rows
}

// TestCosts counts what a few hundred Applications cost. Counts are the same on a busy machine; no time is asserted.
func TestCosts(t *testing.T) {
	rows := runBench(t, "-n=200", "-goals=G2")
	for _, name := range []string{"G2 writes of a new Application", "G2 Events of a new Application", "G2 reads outside of the informers"} {
		row, found := rows[name]
		if !found {
			t.Errorf("%s was not measured", name)
			continue
		}
		if row.Verdict == report.Missed {
			t.Errorf("%s: %g", name, row.Median)
		}
	}
}
