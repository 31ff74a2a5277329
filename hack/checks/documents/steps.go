// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"fmt"
	"regexp"
	"strings"
)

// Step is what a document asks its reader to do: to write a file, or to type a command.
type Step struct {
	// Line is where its block begins.
	Line int
	// File and Content are the file to write; "" for a command.
	File, Content string
	Command       string
	// Shows is what the command prints, as the document says, or "".
	Shows string
}

// Find reads one of the documents that Read reads.
func Find(root, path string) (Document, error) {
	all, err := Read(root)
	if err != nil {
		return Document{}, err
	}
	for _, document := range all {
		if document.Path == path {
			return document, nil
		}
	}
	return Document{}, fmt.Errorf("there is no %s", path)
}

// announcesFile is the last line before a block that is a file.
var announcesFile = regexp.MustCompile("`([A-Za-z.]+)`:$")

// Steps returns what the reader does, in order. A block of language text that follows a block of commands shows what the last of
// them prints.
func (d Document) Steps() []Step {
	lines := strings.Split(d.Text, "\n")
	var steps []Step
	for i, block := range d.Blocks {
		if before := block.Line - 3; before >= 0 {
			if file := announcesFile.FindStringSubmatch(lines[before]); file != nil {
				steps = append(steps, Step{Line: block.Line, File: file[1], Content: block.Text})
				continue
			}
		}
		commands := block.Commands()
		for _, command := range commands {
			steps = append(steps, Step{Line: block.Line, Command: command})
		}
		if next := i + 1; len(commands) > 0 && next < len(d.Blocks) && d.Blocks[next].Language == "text" {
			steps[len(steps)-1].Shows = d.Blocks[next].Text
		}
	}
	return steps
}

// Matches reports whether an output is what the document shows. How many spaces there are does not count, and … stands for anything
// within a line.
func Matches(shown, output string) bool {
	quoted := regexp.QuoteMeta(collapse(shown))
	return regexp.MustCompile("^" + strings.ReplaceAll(quoted, "…", "[^\n]*") + "$").MatchString(collapse(output))
}

func collapse(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}
