// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"fairlead.dev/fairlead/hack/bench/internal/report"
)

const sourceTree = "../.."

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == bareCommand {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) // This is the child process that fills caches.
	}
	goleak.VerifyTestMain(m)
}

// buildController compiles what is measured as make build does.
func buildController(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "fairlead-controller")
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "./cmd/fairlead-controller")
	command.Dir = sourceTree
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build the controller: %v\n%s", err, output)
	}
	return binary
}

// runBench runs the command and returns its rows, by goal and what was measured.
func runBench(t *testing.T, controller string, args ...string) map[string]report.Judged {
	t.Helper()
	t.Setenv(controllerEnv, controller)
	file := filepath.Join(t.TempDir(), "report.json")
	var out, errOut strings.Builder
	code := run(append(args, "-root="+sourceTree, "-json="+file), &out, &errOut)
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

// TestPeer measures the controller as if it were somebody else's.
func TestPeer(t *testing.T) {
	template := filepath.Join(t.TempDir(), "application.yaml")
	manifest := "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: '{{.Name}}', namespace: '{{.Namespace}}'}\n" +
		"spec: {image: 'registry.example.com/web:1', ports: [{name: http, containerPort: 8080}]}\n"
	if err := os.WriteFile(template, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	const children = 4 // ServiceAccount, ControllerRevision, Deployment, Service
	controller := buildController(t)
	rows := runBench(t, controller, "-n=20", "-goals=G2", "-peer-template="+template, "-peer-resource=apps.fairlead.dev/v1/applications",
		"-peer-children="+strconv.Itoa(children), "-peer-crds="+filepath.Join(sourceTree, "artifacts", "crds"),
		"-peer-command="+controller+" --kubeconfig=$KUBECONFIG")
	for name, want := range map[string]float64{
		"Peer requests of a new object":                children + 1,
		"Peer writes of a new object":                  children + 1,
		"Peer writes of a restart":                     0,
		"Peer reads of a restart outside of informers": 0,
	} {
		if row, found := rows[name]; !found || row.Median != want {
			t.Errorf("%s: measured %t, %g, want %g", name, found, row.Median, want)
		}
	}
}

// TestCounts guards what does not depend on the machine: what new Applications cost, and that a restart and a resync over
// them cost nothing. No time is asserted.
func TestCounts(t *testing.T) {
	rows := runBench(t, buildController(t), "-n=200", "-repeats=1", "-goals=G2,G3,G4")
	for _, name := range []string{
		"G2 writes of a new Application", "G2 Events of a new Application", "G2 reads outside of the informers",
		"G3 writes of a full resync", "G3 reads of a full resync",
		"G4 writes of a restart", "G4 reads outside of the informers",
	} {
		if row, found := rows[name]; !found || row.Verdict == report.Missed {
			t.Errorf("%s: measured %t, %g", name, found, row.Median)
		}
	}
}

// TestEveryGoal measures everything once, as far as it can be with a few Applications.
func TestEveryGoal(t *testing.T) {
	rows := runBench(t, buildController(t), "-n=20", "-repeats=1", "-step=1s", "-outage=1s", "-edits=6")
	for _, goal := range goalNames {
		found := false
		for _, row := range rows {
			found = found || row.Goal == goal
		}
		if !found {
			t.Errorf("%s has no row", goal)
		}
	}
	for _, name := range []string{
		"G1 converge, against raw server-side apply", "G1 converge, against raw POST", "G4 restart until idle, against bare informers",
		"G9 converged after an outage, against a raw replay",
	} {
		if ratio := rows[name].Ratio; len(ratio) == 0 || ratio[0] <= 0 {
			t.Errorf("%s: the ratio to the floor is %v", name, ratio)
		}
	}
}
