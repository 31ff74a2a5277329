// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/hack/internal/steps"
)

func TestConsent(t *testing.T) {
	out := steps.NewPrinter(io.Discard, nil)
	for answer, want := range map[string]error{
		"yes\n": nil,
		"yes":   nil,
		"y\n":   errDeclined,
		"no\n":  errDeclined,
		"\n":    errDeclined,
		"":      errDeclined,
	} {
		if err := consent(out, strings.NewReader(answer)); !errors.Is(err, want) {
			t.Errorf("answer %q: got %v, want %v", answer, err, want)
		}
	}
}

// TestCurrentClusterIsMissing shows what a stale KUBECONFIG leads to where it is asked for.
func TestCurrentClusterIsMissing(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "stale"))
	t.Setenv("HOME", t.TempDir())
	_, err := currentOf(steps.NewPrinter(io.Discard, nil))
	if err == nil || !strings.Contains(err.Error(), "FAIRLEAD_CLUSTER=current") || !strings.Contains(err.Error(), "unset it") {
		t.Errorf("got %v, want an error that names the setting and what to do", err)
	}
}
