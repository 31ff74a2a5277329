// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

// checksumsFile covers every other file of the release, so that one signature does.
const checksumsFile = "SHA256SUMS"

// checksum is a file of the release and what it contains.
type checksum struct{ name, sha256 string }

// writeChecksums removes the directory of work, and writes what sha256sum --check reads.
func writeChecksums(_ context.Context, r *release) error {
	if err := os.RemoveAll(r.path(workDirectory)); err != nil {
		return err
	}
	sums, err := r.checksums()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, sum := range sums {
		fmt.Fprintf(&text, "%s  %s\n", sum.sha256, sum.name)
	}
	return r.write(checksumsFile, []byte(text.String()))
}

// checksums returns the files of the release in the order of their names.
func (r *release) checksums() ([]checksum, error) {
	files, err := os.ReadDir(r.dist)
	if err != nil {
		return nil, err
	}
	var sums []checksum
	for _, file := range files {
		content, err := os.ReadFile(r.path(file.Name()))
		if err != nil {
			return nil, err
		}
		sums = append(sums, checksum{file.Name(), fmt.Sprintf("%x", sha256.Sum256(content))})
	}
	return sums, nil
}
