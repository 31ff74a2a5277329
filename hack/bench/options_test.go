// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestOptions(t *testing.T) {
	tree := t.TempDir()
	if err := os.CopyFS(tree, fstest.MapFS{"bin/fairlead-controller": {}}); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	if _, err := parseOptions([]string{"-help"}, &output); !errors.Is(err, flag.ErrHelp) || !strings.Contains(output.String(), "-repeats") {
		t.Errorf("-help: %v, and printed %q", err, output.String())
	}
	o, err := parseOptions([]string{"-root=" + tree, "-n=20000", "-goals=G1,G10"}, &output)
	if err != nil {
		t.Fatal(err)
	}
	if !o.wants("G10") || !o.wants("G2", "G1") || o.wants("G3") {
		t.Errorf("the goals are %q", o.goals)
	}
	if o.outage != time.Minute {
		t.Errorf("the outage of many Applications is %s", o.outage)
	}
}

func TestBadOptions(t *testing.T) {
	tests := []struct{ args, want string }{
		{"-n=5", "-n is 5, but must be between"},
		{"-repeats=0", "-repeats is 0"},
		{"-workers=0", "-workers is 0"},
		{"-goals=G1,G8", `-goals has "G8", but there are G1, G2`},
		{"-step=1ms", "-step is 1ms"},
		{"-edits=0", "-edits is 0"},
		{"more", `unexpected argument "more"`},
	}
	for _, test := range tests {
		_, err := parseOptions(strings.Fields(test.args), &strings.Builder{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", test.args, err, test.want)
		}
	}
}

func TestMissingController(t *testing.T) {
	if _, err := parseOptions([]string{"-root=" + t.TempDir()}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("got %v, want an error that says what to do", err)
	}
}
