// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package root finds Fairlead's source tree.
package root

import (
	"errors"
	"os"
	"path/filepath"
)

// Find returns the current directory, or the nearest above it, that has Fairlead's CustomResourceDefinitions.
func Find() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "artifacts", "crds")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("artifacts/crds is neither here nor above: run this in Fairlead's source tree")
		}
	}
}
