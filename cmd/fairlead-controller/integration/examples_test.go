// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	examples = "../../../artifacts/examples"
	// optionalExample needs APIs that the shared cluster does not serve; TestF15OptionalAPIs applies it.
	optionalExample = "gateway.yaml"
)

// TestExamples applies the examples as a reader would, each folder and each other file to a
// namespace of its own. Every Application becomes Ready.
func TestExamples(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		path := filepath.Join(examples, entry.Name())
		if entry.Name() == "broken" || entry.Name() == optionalExample || !entry.IsDir() && filepath.Ext(path) != ".yaml" {
			continue
		}
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			e := start(t)
			if entry.IsDir() {
				e.applyFiles(filepath.Join(path, "*.yaml"))
			} else {
				e.applyFiles(path)
			}
			if len(e.mine) == 0 {
				t.Fatal("there is no Application in it")
			}
			for _, name := range e.mine {
				e.waitReady(name)
			}
		})
	}
}

// TestBrokenExamples applies the examples that cannot work, and waits for what their comments
// promise.
func TestBrokenExamples(t *testing.T) {
	t.Parallel()
	promised := map[string]struct{ stalled, ready string }{
		"wrong-image.yaml": {v1.ReasonProgressDeadlineExceeded, v1.ReasonImagePullFailed},
		"wrong-port.yaml":  {v1.ReasonInvalid, v1.ReasonInvalid},
	}
	files, err := filepath.Glob(filepath.Join(examples, "broken", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(promised) {
		t.Errorf("there are %d broken examples, and promises of %d", len(files), len(promised))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.applyFiles(file)
			for _, name := range e.mine {
				e.waitCondition(name, v1.ConditionStalled, metav1.ConditionTrue, promised[filepath.Base(file)].stalled)
				e.waitCondition(name, v1.ConditionReady, metav1.ConditionFalse, promised[filepath.Base(file)].ready)
			}
		})
	}
}

// applyFiles applies the files that match, in the order of their names.
func (e *env) applyFiles(pattern string) {
	e.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		e.Fatalf("no files match %s: %v", pattern, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			e.Fatal(err)
		}
		e.apply(string(content))
	}
}
