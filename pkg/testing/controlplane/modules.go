// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// DefinitionsOf copies files of a Go module, such as example.com/operator@v1.2.3, to a directory for InstallCRDs. The
// go command downloads the module like any other, but the module need not be in go.mod: the modules of other
// operators require versions that this module must not. sum is the hash that go.sum would have.
func DefinitionsOf(tb testing.TB, module, sum string, files ...string) (dir string) {
	tb.Helper()
	command := exec.CommandContext(tb.Context(), "go", "mod", "download", "-json", module)
	command.Dir = tb.TempDir() // Outside any module, so that no go.mod changes.
	output, err := command.Output()
	var found struct{ Dir, Sum string }
	if err == nil {
		err = json.Unmarshal(output, &found)
	}
	if err != nil || found.Sum != sum {
		tb.Fatalf("fetch %s: %v, with the sum %s; want %s", module, err, found.Sum, sum)
	}
	dir = tb.TempDir()
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(found.Dir, filepath.FromSlash(file)))
		if err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}
