// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package golden compares what a command prints with a file. `go test ./... -update` writes the files.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
