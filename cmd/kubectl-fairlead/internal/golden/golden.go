// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package golden compares what a command prints with a file or a page. `go test ./... -update` writes them.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
)

var update = flag.Bool("update", false, "write the golden files")

// Screens prints at 80 and at 160 columns, and compares each with testdata/NAME.COLUMNS.txt.
func Screens(t *testing.T, name string, draw func(*screen.Screen)) {
	t.Helper()
	for _, columns := range []int{80, 160} {
		var got bytes.Buffer
		draw(screen.Fixed(&got, columns, false))
		Equal(t, fmt.Sprintf("%s.%d.txt", name, columns), got.Bytes())
	}
}

// Equal compares with a file below testdata.
func Equal(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; to write it: go test -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -want +got:\n%s", name, diff)
	}
}

// Block compares with the first block of text below a heading of a page.
func Block(t *testing.T, page, heading, got string) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "```text\n", "```\n"
	before, after, found := strings.Cut(string(content), heading+"\n")
	between, after, opened := strings.Cut(after, begin)
	want, after, closed := strings.Cut(after, end)
	if !found || !opened || !closed {
		t.Fatalf("%s has no block of text below %q", page, heading)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+heading+"\n"+between+begin+got+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want +got:\n%s", page, diff)
	}
}
