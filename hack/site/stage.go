// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fairlead.dev/fairlead/hack/checks/documents"
)

// sourcesAt is where the pages are that show files of the repository to which documents link.
const sourcesAt = "source"

// staging turns documents into pages. They lie as in the repository, so links between them are good on GitHub and here.
type staging struct {
	root, into string
	// texts are the documents, by their path. links add to it.
	texts map[string]string
	// queue are the documents whose links are not followed yet.
	queue   []string
	pages   map[string]string
	sources map[string]bool
	images  map[string]bool
	faults  []error
}

// staged is what there is to see.
type staged struct{ documents, sources []string }

// stage writes the pages and their navigation into a directory, which it empties first.
func stage(root, into string) (staged, error) {
	s := &staging{root: root, into: into, texts: map[string]string{}, pages: map[string]string{}, sources: map[string]bool{}, images: map[string]bool{}}
	all, err := documents.Read(root)
	if err != nil {
		return staged{}, err
	}
	for _, document := range all {
		if document.Path == "README.md" || strings.HasPrefix(document.Path, "docs/") {
			s.texts[document.Path] = document.Text
			s.queue = append(s.queue, document.Path)
		}
	}
	for len(s.queue) > 0 {
		document := s.queue[0]
		s.queue = s.queue[1:]
		s.pages[pageOf(document)] = s.rewrite(document, s.texts[document])
	}
	s.showSources()
	if err := errors.Join(s.faults...); err != nil {
		return staged{}, err
	}
	menu, err := navigation(s.texts)
	if err != nil {
		return staged{}, err
	}
	if err := s.write(menu); err != nil {
		return staged{}, err
	}
	return staged{documents: slices.Sorted(maps.Keys(s.texts)), sources: slices.Sorted(maps.Keys(s.sources))}, nil
}

var (
	fence      = regexp.MustCompile("^ *```")
	inlineCode = regexp.MustCompile("`[^`\n]+`")
	target     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// placeholder is what looks like an element of HTML and is none: a name that the reader fills in.
	placeholder = regexp.MustCompile(`<([a-z]+)>`)
	elements    = []string{"details", "summary", "br"}
)

// rewrite returns the text of a page: its links lead to pages.
func (s *staging) rewrite(document, text string) string {
	var page strings.Builder
	inBlock := false
	for line := range strings.Lines(text) {
		if fence.MatchString(line) {
			inBlock = !inBlock
		}
		if inBlock {
			page.WriteString(line)
			continue
		}
		line = escapePlaceholders(line)
		end := 0
		for _, found := range target.FindAllStringSubmatchIndex(line, -1) {
			if isCode(line, found[0]) {
				continue
			}
			page.WriteString(line[end:found[2]])
			page.WriteString(s.link(document, line[found[2]:found[3]]))
			end = found[3]
		}
		page.WriteString(line[end:])
	}
	return page.String()
}

// isCode reports whether inline code spans over a place in a line.
func isCode(line string, at int) bool {
	return slices.ContainsFunc(inlineCode.FindAllStringIndex(line, -1), func(span []int) bool { return span[0] < at && at < span[1] })
}

// escapePlaceholders makes text of what is no element of HTML.
func escapePlaceholders(line string) string {
	var escaped strings.Builder
	end := 0
	for _, found := range placeholder.FindAllStringSubmatchIndex(line, -1) {
		if isCode(line, found[0]) || slices.Contains(elements, line[found[2]:found[3]]) {
			continue
		}
		escaped.WriteString(line[end:found[0]] + "&lt;" + line[found[2]:found[3]] + "&gt;")
		end = found[1]
	}
	return escaped.String() + line[end:]
}

// link returns where a link of a document leads on the site.
func (s *staging) link(document, link string) string {
	file, fragment, _ := strings.Cut(link, "#")
	if file == "" || strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return link
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	named := path.Join(path.Dir(document), file)
	page, err := s.page(named)
	if err != nil {
		s.faults = append(s.faults, fmt.Errorf("%s: the link to %s: %w", document, link, err))
		return link
	}
	relative, err := filepath.Rel(filepath.FromSlash(path.Dir(document)), filepath.FromSlash(page))
	if err != nil {
		s.faults = append(s.faults, err)
	}
	if relative = filepath.ToSlash(relative); !strings.HasPrefix(relative, ".") {
		relative = "./" + relative
	}
	return relative + fragment
}

// page makes sure that there is a page about a file, and returns its path. An image is copied.
func (s *staging) page(file string) (string, error) {
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(file)))
	switch {
	case err != nil || strings.HasPrefix(file, "../"):
		return "", errors.New("it leads to nothing in the repository")
	case info.IsDir():
		s.sources[file] = true
		return pageAbout(file) + "/index.md", nil
	case path.Ext(file) == ".md":
		return pageOf(file), s.follow(file)
	case path.Ext(file) == ".png":
		s.images[file] = true
		return file, nil
	default:
		s.sources[file] = true
		return pageAbout(file) + ".md", nil
	}
}

// pageAbout is where the page about a file is, without its ending. VitePress sees no file whose name begins with a dot.
func pageAbout(file string) string {
	return sourcesAt + strings.ReplaceAll("/"+file, "/.", "/")
}

// follow makes a document a page.
func (s *staging) follow(file string) error {
	if _, known := s.texts[file]; known {
		return nil
	}
	content, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(file)))
	s.texts[file] = string(content)
	s.queue = append(s.queue, file)
	return err
}

// showSources makes the pages of files, and of directories first, since they link to their files.
func (s *staging) showSources() {
	for _, file := range slices.Sorted(maps.Keys(s.sources)) {
		entries, err := os.ReadDir(filepath.Join(s.root, filepath.FromSlash(file)))
		if err == nil {
			s.pages[pageAbout(file)+"/index.md"] = s.showDirectory(file, entries)
		}
	}
	for file := range s.sources {
		if _, isDirectory := s.pages[pageAbout(file)+"/index.md"]; isDirectory {
			continue
		}
		content, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(file)))
		if err != nil {
			s.faults = append(s.faults, err)
			continue
		}
		// No file has a fence as long as this one.
		const fence = "``````````"
		s.pages[pageAbout(file)+".md"] = fmt.Sprintf("%s# %s\n\n%s%s:line-numbers lines\n%s\n%s\n", frontMatter, file, fence, languageOf(file), strings.TrimRight(string(content), "\n"), fence)
	}
}

// frontMatter of a page about a file: people find code by its links, not by the search.
const frontMatter = "---\nsearch: false\npageClass: source\nsidebar: false\naside: false\n---\n\n"

func (s *staging) showDirectory(directory string, entries []fs.DirEntry) string {
	var page strings.Builder
	fmt.Fprintf(&page, "%s# %s\n\n", frontMatter, directory)
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			s.sources[path.Join(directory, entry.Name())] = true
			fmt.Fprintf(&page, "- [%s](./%s.md)\n", entry.Name(), entry.Name())
		}
	}
	return page.String()
}

// languageOf names the colours of a file.
func languageOf(file string) string {
	switch path.Ext(file) {
	case ".go", ".mod":
		return "go"
	case ".yaml", ".yml":
		return "yaml"
	case ".json":
		return "json"
	case ".sh":
		return "bash"
	}
	switch path.Base(file) {
	case "Makefile":
		return "make"
	case "Dockerfile":
		return "docker"
	case "run":
		return "bash"
	default:
		return "text"
	}
}

// toVersions leads to the list of all versions.
const toVersions = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=../versions.html">
<title>All versions</title>
<a href="../versions.html">All versions</a>
</html>
`

func (s *staging) write(menu []item) error {
	if err := os.RemoveAll(s.into); err != nil {
		return err
	}
	encoded, err := json.MarshalIndent(menu, "", "  ")
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"navigation.json": encoded,
		// Beside the pages of this version; a link of the header can only lead to a page.
		"public/versions.html": []byte(toVersions),
	}
	for page, text := range s.pages {
		files[page] = []byte(text)
	}
	for image := range s.images {
		if files[image], err = os.ReadFile(filepath.Join(s.root, filepath.FromSlash(image))); err != nil {
			return err
		}
	}
	for file, content := range files {
		file = filepath.Join(s.into, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
