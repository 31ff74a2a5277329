// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fairlead.dev/fairlead/hack/checks/documents"
)

// TestDocumentsNameWhatExists checks what can be checked without running anything: links,
// headings, paths, make targets and flags. hack/checks/walkthrough runs the commands.
func TestDocumentsNameWhatExists(t *testing.T) {
	all, err := documents.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	targets := makeTargets(t)
	ofController, ofAPIServer := flagsOf(t, "fairlead-controller"), flagsOf(t, "fairlead-apiserver")
	for _, document := range all {
		t.Run(document.Path, func(t *testing.T) {
			flags := ofController
			if document.Path == "docs/subresources.md" {
				flags = ofAPIServer
			}
			checkLinks(t, document)
			checkPlaceholders(t, document)
			checkPaths(t, document)
			checkTargets(t, document, targets)
			checkFlags(t, document, flags)
		})
	}
}

// TestReadmeLeadsUsersToTheirPages wants the pages for users on the first screen, in front of what is for readers of the code.
func TestReadmeLeadsUsersToTheirPages(t *testing.T) {
	const lines = 40
	screen := strings.Join(strings.SplitN(read(t, "README.md"), "\n", lines+1)[:lines], "\n")
	for _, page := range []string{"docs/applications.md", "docs/operations.md"} {
		if !strings.Contains(screen, "]("+page+")") {
			t.Errorf("the first %d lines of README.md have no link to %s", lines, page)
		}
	}
}

// TestReadingOrderHasEveryFile keeps the guide through the code complete.
func TestReadingOrderHasEveryFile(t *testing.T) {
	guide := read(t, "docs/reading-order.md")
	stages := []string{
		"pkg/child", "pkg/codec", "pkg/informer", "pkg/controller", "pkg/consistency", "pkg/render", "pkg/plan", "pkg/apply", "pkg/status",
		"cmd/fairlead-controller/app",
	}
	for _, file := range sources(t, stages...) {
		name := path.Base(file.path)
		if file.isTest() || isTestHelper(file.dir()) || name == "doc.go" {
			continue
		}
		if !regexp.MustCompile("[`/]" + regexp.QuoteMeta(name) + `\b`).MatchString(guide) {
			t.Errorf("docs/reading-order.md does not say what %s is for", file.path)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// checkLinks looks for the files that the document links to, and for the heading after a #.
func checkLinks(t *testing.T, document documents.Document) {
	t.Helper()
	for _, found := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(document.Text, ""), -1) {
		target := found[1]
		if strings.Contains(target, "://") {
			continue
		}
		file, heading, _ := strings.Cut(target, "#")
		linked := document.Path
		if file != "" {
			linked = path.Join(path.Dir(document.Path), file)
		}
		if !exists(linked) {
			t.Errorf("the link to %s leads to nothing", target)
			continue
		}
		if strings.HasSuffix(file, ".go") {
			continue // TestBookNamesLines looks at the line.
		}
		if heading != "" && !hasHeading(read(t, linked), heading) {
			t.Errorf("the link to %s leads to no heading of %s", target, linked)
		}
	}
}

var (
	placeholder = regexp.MustCompile(`(?:^|[^\\])<[a-z]+>`)
	htmlTag     = regexp.MustCompile(`</?(?:details|summary)>`)
)

// checkPlaceholders looks for <names> outside of code, which Markdown takes for HTML and shows nothing of.
func checkPlaceholders(t *testing.T, document documents.Document) {
	t.Helper()
	fenced := false
	for line := range strings.Lines(document.Text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		text := htmlTag.ReplaceAllString(inlineCode.ReplaceAllString(line, ""), "")
		if found := placeholder.FindString(text); found != "" && !fenced {
			t.Errorf("Markdown swallows %q in: %s", found, line)
		}
	}
}

var punctuation = regexp.MustCompile(`[^a-z0-9 _-]`)

func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		title := strings.TrimLeft(line, "#")
		if title == line {
			continue
		}
		slug := punctuation.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		if strings.ReplaceAll(slug, " ", "-") == anchor {
			return true
		}
	}
	return false
}

var (
	repositoryPath = regexp.MustCompile(`(?:^|[\s"'=(\x60])(\.?/?(?:pkg|cmd|hack|artifacts|docs|bin|\.ci)/[A-Za-z0-9._/*-]*)`)
	pathEnd        = regexp.MustCompile(`[.,:;]+$`)
)

// checkPaths looks for everything that is written like a path of the repository.
func checkPaths(t *testing.T, document documents.Document) {
	t.Helper()
	for _, found := range repositoryPath.FindAllStringSubmatch(document.Text, -1) {
		named := strings.TrimPrefix(pathEnd.ReplaceAllString(found[1], ""), "./")
		if strings.HasPrefix(named, "bin/") {
			if !strings.Contains(read(t, "Makefile"), named) && !strings.Contains(read(t, "hack/build.sh"), path.Base(named)) {
				t.Errorf("%s is nothing that make builds", named)
			}
			continue
		}
		if !exists(named) && !exists(path.Join(path.Dir(document.Path), named)) {
			t.Errorf("%s does not exist", named)
		}
	}
}

var makeCommand = regexp.MustCompile(`(?:^|[\s\x60])make ([a-z][a-z-]*)(?:[\s\x60.,;)]|$)`)

// checkTargets looks at blocks and at inline code alike.
func checkTargets(t *testing.T, document documents.Document, targets map[string]bool) {
	t.Helper()
	var code strings.Builder
	for _, block := range document.Blocks {
		if block.Language == "sh" {
			code.WriteString(block.Text)
		}
	}
	for _, span := range inlineCode.FindAllStringSubmatch(document.Text, -1) {
		code.WriteString(span[1] + "\n")
	}
	for _, found := range makeCommand.FindAllStringSubmatch(code.String(), -1) {
		if !targets[found[1]] {
			t.Errorf("make %s: the Makefile has no such target with a description", found[1])
		}
	}
}

var (
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z-]*):.*## `)
)

func makeTargets(t *testing.T) map[string]bool {
	t.Helper()
	targets := map[string]bool{}
	for _, found := range makeTarget.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[found[1]] = true
	}
	return targets
}

var (
	flagName       = regexp.MustCompile(`--?[a-z][a-z-]*`)
	runsController = regexp.MustCompile(`(?:make run ARGS=|fairlead-controller )(.*)`)
)

// checkFlags looks at the flags that are passed to the command, and at those in the first
// column of a table.
func checkFlags(t *testing.T, document documents.Document, known map[string]bool) {
	t.Helper()
	var texts []string
	for _, found := range runsController.FindAllStringSubmatch(document.Text, -1) {
		text, _, _ := strings.Cut(found[1], "`")
		texts = append(texts, text)
	}
	for line := range strings.Lines(document.Text) {
		if strings.HasPrefix(line, "| `-") {
			texts = append(texts, strings.Split(line, "|")[1])
		}
	}
	for _, text := range texts {
		for _, name := range flagName.FindAllString(text, -1) {
			if !known[name] {
				t.Errorf("the command has no flag %s", name)
			}
		}
	}
}

// flagsOf returns the flags that --help of a command lists.
func flagsOf(t *testing.T, name string) map[string]bool {
	t.Helper()
	sources(t, "cmd", "pkg") // see there: what go run reads are inputs of the test
	// As make build compiles it, so that Go's cache has it.
	command := exec.CommandContext(t.Context(), "go", "run", "-trimpath", "-buildvcs=false", "./cmd/"+name, "--help")
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s --help: %v\n%s", name, err, output)
	}
	flags := map[string]bool{"--help": true}
	for _, flag := range regexp.MustCompile(`(?m)^ +(?:(-[a-z]), )?(--[a-z-]+)`).FindAllStringSubmatch(string(output), -1) {
		flags[flag[1]] = true
		flags[flag[2]] = true
	}
	if !flags["--logging-format"] || !flags["-v"] {
		t.Fatalf("the help is not understood; it is\n%s", output)
	}
	return flags
}

func exists(file string) bool {
	matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil || len(matches) == 0 {
		return false
	}
	_, err = os.Stat(matches[0])
	return err == nil
}
