// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPlantsFit finds for each planted bug the lines that it replaces. After a change of those, move the bug along.
func TestPlantsFit(t *testing.T) {
	t.Parallel()
	if got := len(plants()); got != 25 {
		t.Errorf("there are %d planted bugs, but 25 in docs/reliability.md", got)
	}
	names := map[string]bool{}
	for _, p := range plants() {
		if names[p.name] {
			t.Errorf("two planted bugs are named %s", p.name)
		}
		names[p.name] = true
		content, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(p.file)))
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		planted, err := p.in(string(content))
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if planted == string(content) {
			t.Errorf("%s changes nothing", p.name)
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	const output = `=== RUN   TestOrphan
    --- FAIL: TestOrphan/foreground (0.00s)
--- FAIL: TestOrphan (0.01s)
    explore_test.go:79: 20 programs, 400 steps in 1m26s: 4.7 a second
    explore_test.go:99: seed 127: I8: Deployment a was to be left behind, and is gone
`
	if got, want := failedTest("./pkg/plan", output), "pkg/plan TestOrphan/foreground"; got != want {
		t.Errorf("the test is %q, want %q", got, want)
	}
	if got, want := explored(output), "I8 after 400 steps"; got != want {
		t.Errorf("the explorer found %q, want %q", got, want)
	}
	const program = `--- FAIL: TestReadyIsTrue (57.94s)
    explore_test.go:160: step 8, wait: I7: Application a is Ready with 0 of 2 pods available
`
	if got, want := failedTest(explorer, program), "cmd/fairlead-controller/chaos TestReadyIsTrue (I7)"; got != want {
		t.Errorf("the test is %q, want %q", got, want)
	}
	if got := failedTest("./pkg/plan", "ok"); got != "" {
		t.Errorf("%q failed in a run that passed", got)
	}
	if got := explored("--- PASS: TestExplore"); got != "" {
		t.Errorf("the explorer found %q in a run that passed", got)
	}
}
