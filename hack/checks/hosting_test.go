// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	usedAction   = regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`)
	pinnedAction = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$`)
	permissions  = regexp.MustCompile(`(?m)^permissions:\n {2}contents: read\n[a-z]`)
	mayWrite     = regexp.MustCompile(`(?m)^.*: write(-all)?\b.*$`)
	withReason   = regexp.MustCompile(`^ {6}[a-z-]+: write # \S`)
)

// TestWorkflowsAreRestricted: an action cannot change behind our back, and a job has no permission that it does not name.
func TestWorkflowsAreRestricted(t *testing.T) {
	workflows, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yaml"))
	if err != nil || len(workflows) == 0 {
		t.Fatalf("found %d workflows: %v", len(workflows), err)
	}
	for _, workflow := range workflows {
		name := ".github/workflows/" + filepath.Base(workflow)
		text := read(t, name)
		for _, action := range usedAction.FindAllStringSubmatch(text, -1) {
			if !pinnedAction.MatchString(action[1]) {
				t.Errorf("%s uses %s; pin it by hash, with its version as a comment", name, action[1])
			}
		}
		if !permissions.MatchString(text) {
			t.Errorf("%s does not restrict its token to contents: read", name)
		}
		for _, permission := range mayWrite.FindAllString(text, -1) {
			if !withReason.MatchString(permission) {
				t.Errorf("%s has %q; only a job may write, and says why in a comment", name, permission)
			}
		}
	}
}

var goImage = regexp.MustCompile(`(?m)^FROM .*/golang:(\S+@sha256:[0-9a-f]{64})`)

// TestOneGoVersion: the devcontainer has the compiler of the image, and no registry can change it.
func TestOneGoVersion(t *testing.T) {
	want, got := goImage.FindStringSubmatch(read(t, "Dockerfile")), goImage.FindStringSubmatch(read(t, ".devcontainer/Dockerfile"))
	if want == nil || got == nil || want[1] != got[1] {
		t.Errorf("the Dockerfile has Go %q, the devcontainer %q", want, got)
	}
}

// TestContributingIsOnePage, as read on paper.
func TestContributingIsOnePage(t *testing.T) {
	if lines := strings.Count(read(t, "CONTRIBUTING.md"), "\n"); lines > 60 {
		t.Errorf("CONTRIBUTING.md has %d lines", lines)
	}
}

// TestVulnerabilitiesSayWhenNotRun: without a database govulncheck looks at nothing, and says so.
func TestVulnerabilitiesSayWhenNotRun(t *testing.T) {
	command := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "vulnerabilities.sh"))
	command.Env = append(os.Environ(), "GOVULNDB=")
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "NOT RUN") {
		t.Errorf("without a database: %v, and the output\n%s", err, output)
	}
}

// TestVerifyNamesWhatDidNotRun: the last line is what a reader of a long log looks at.
func TestVerifyNamesWhatDidNotRun(t *testing.T) {
	for check, want := range map[string]string{
		"known vulnerabilities": "verify: what ran is as it should be; NOT RUN: [known vulnerabilities]\n",
		"license headers":       "verify: everything is as it should be\n",
	} {
		command := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "verify.sh"), check)
		command.Env = append(os.Environ(), "GOVULNDB=")
		if output, err := command.CombinedOutput(); err != nil || !strings.HasSuffix(string(output), "\n"+want) {
			t.Errorf("%s: %v: the output\n%s\ndoes not end with %s", check, err, output, want)
		}
	}
}
