// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package documents reads the Markdown files of the repository, for the tests that check them.
package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Document is a Markdown file.
type Document struct {
	// Path is relative to the root of the repository, with slashes.
	Path string
	// Text is all of it.
	Text string
	// Blocks are the fenced blocks, in order.
	Blocks []Block
}

// Block is a fenced block.
type Block struct {
	// Line is the number of its first line in the document.
	Line int
	// Language is the word after the fence, e.g. sh, yaml, or "".
	Language string
	Text     string
}

var fence = regexp.MustCompile("^ *```([a-z]*)$")

// Read reads the documents for users and developers below the root.
func Read(root string) ([]Document, error) {
	var documents []Document
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/guides/*.md", "docs/informers/*.md", "docs/informers/*/*.md", "hack/cluster/*.md", "artifacts/examples/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read document: %w", err)
			}
			relative, err := filepath.Rel(root, file)
			if err != nil {
				return nil, fmt.Errorf("name document: %w", err)
			}
			document := Document{Path: filepath.ToSlash(relative), Text: string(content)}
			if document.Blocks, err = blocks(document.Text); err != nil {
				return nil, fmt.Errorf("%s: %w", document.Path, err)
			}
			documents = append(documents, document)
		}
	}
	return documents, nil
}

func blocks(text string) ([]Block, error) {
	var all []Block
	var open *Block
	number := 0
	for line := range strings.Lines(text) {
		number++
		found := fence.FindStringSubmatch(strings.TrimRight(line, "\n"))
		switch {
		case found != nil && open == nil:
			open = &Block{Line: number + 1, Language: found[1]}
		case found != nil:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.Text += line
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block in line %d has no end", open.Line)
	}
	return all, nil
}

// Commands returns the commands of a block of language sh: its lines without comments, joined
// where they end in a backslash.
func (b Block) Commands() []string {
	if b.Language != "sh" {
		return nil
	}
	var commands []string
	for line := range strings.Lines(strings.ReplaceAll(b.Text, "\\\n", " ")) {
		line, _, _ = strings.Cut(" "+strings.TrimSpace(line), " #")
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			commands = append(commands, line)
		}
	}
	return commands
}
