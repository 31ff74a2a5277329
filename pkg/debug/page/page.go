// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed static
var embedded embed.FS

// Files returns the files of the page; index.html is its entry.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "static")
	if err != nil {
		panic(err) // "static" is a valid path, which is all that fs.Sub asks for.
	}
	return files
}

// Library is a file of static/lib, which others wrote.
type Library struct {
	// Path is relative to static.
	Path string
	// SHA256 is its hash in hexadecimal, as the list beside the files has it.
	SHA256 string
}

// Libraries returns the libraries of the page, licenses included, with the hashes that they must have.
func Libraries() ([]Library, error) {
	list, err := fs.ReadFile(Files(), "lib/SHA256SUMS")
	if err != nil {
		return nil, fmt.Errorf("read the hashes of the libraries: %w", err)
	}
	var libraries []Library
	for line := range strings.Lines(string(list)) {
		hash, file, found := strings.Cut(strings.TrimSpace(line), "  ")
		if !found {
			return nil, fmt.Errorf("read the hashes of the libraries: line %q is not a hash, two spaces and a file", line)
		}
		libraries = append(libraries, Library{Path: "lib/" + file, SHA256: hash})
	}
	return libraries, nil
}
