// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stages holds the kwok Stages that decide how simulated nodes and pods behave. README.md of this module lists
// the behaviors that a pod can ask for.
package stages

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"text/template"
)

//go:embed templates
var files embed.FS

// Config returns kwok's configuration: every Stage, as one YAML stream.
//
// The Stages exclude each other: kwok would choose at random between two that match the same pod.
func Config() ([]byte, error) {
	// kwok has templates of its own inside the Stages, with the usual delimiters.
	set, err := template.New("").Delims("[[", "]]").ParseFS(files, "templates/*")
	if err != nil {
		return nil, fmt.Errorf("parse the embedded stages: %w", err)
	}
	entries, err := files.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("list the embedded stages: %w", err)
	}
	var stream strings.Builder
	for _, entry := range entries {
		if path.Ext(entry.Name()) != ".yaml" {
			continue
		}
		stream.WriteString("---\n")
		if err := set.ExecuteTemplate(&stream, entry.Name(), nil); err != nil {
			return nil, fmt.Errorf("render the embedded stages: %w", err)
		}
	}
	return []byte(stream.String()), nil
}
