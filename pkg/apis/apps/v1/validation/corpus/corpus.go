// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package corpus holds objects that must be refused, and what refuses them: a file each, by
// subject. The comment at the head of a file names the layer and the errors:
//
//	# refused by: rule
//	# spec: Invalid value: "object": replicas 2 and autoscaling, with maxReplicas 4, exclude each other: …
//
// Tests hold every file against the schema, against the webhooks' and the sync's validation, and
// against a real API server.
package corpus

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Layer is what refuses an object: the earliest that can.
type Layer string

const (
	// Schema is the CRD's OpenAPI schema: types, bounds, formats, unknown fields. The API server
	// checks it by itself.
	Schema Layer = "schema"
	// Rule is a CEL rule of the CRD, which the API server checks when the schema is met.
	Rule Layer = "rule"
	// Admission is the shared validation: the validating webhook refuses by it. Where webhooks are
	// off, the sync does, and the Application is Stalled.
	Admission Layer = "admission"
)

var layers = []Layer{Schema, Rule, Admission}

//go:embed invalid
var files embed.FS

// Case is one object that must be refused.
type Case struct {
	// Name is <subject>/<what is wrong>.
	Name string
	// Layer refuses it, with Errors in its order. Both are empty in a new file.
	Layer  Layer
	Errors []string
	// Object is the YAML.
	Object string
}

// Cases returns all of them, by name. The error is that of a malformed file.
func Cases() ([]Case, error) {
	var cases []Case
	err := fs.WalkDir(files, "invalid", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(file, "invalid/"), path.Ext(file))
		c, err := parse(name, string(content))
		cases = append(cases, c)
		return err
	})
	return cases, err
}

const refusedBy = "refused by: "

func parse(name, content string) (Case, error) {
	c := Case{Name: name}
	for strings.HasPrefix(content, "#") {
		line, rest, _ := strings.Cut(content, "\n")
		content = rest
		line = strings.TrimPrefix(strings.TrimPrefix(line, "#"), " ")
		if layer, found := strings.CutPrefix(line, refusedBy); found {
			c.Layer = Layer(layer)
			if !slices.Contains(layers, c.Layer) {
				return Case{}, fmt.Errorf("%s: refused by %q, but must be one of %q", name, layer, layers)
			}
			continue
		}
		c.Errors = append(c.Errors, line)
	}
	c.Object = content
	return c, nil
}

// Format is the file of the case.
func (c Case) Format() string {
	var file strings.Builder
	fmt.Fprintf(&file, "# %s%s\n", refusedBy, c.Layer)
	for _, err := range c.Errors {
		fmt.Fprintf(&file, "# %s\n", err)
	}
	file.WriteString(c.Object)
	return file.String()
}
