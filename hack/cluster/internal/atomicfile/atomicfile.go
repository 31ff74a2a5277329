// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package atomicfile writes files that appear all at once.
package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write replaces the file's content with mode 0600. A reader never sees half of it.
func Write(file string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // Fails after the rename, as it should.
	if _, err := temporary.Write(content); err != nil {
		_ = temporary.Close()
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := temporary.Close(); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.Rename(temporary.Name(), file)
}
