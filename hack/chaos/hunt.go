// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// hunt looks for planted bugs.
type hunt struct {
	root    string
	explore time.Duration
	errOut  io.Writer
}

// catch plants a bug and looks for it.
func (h *hunt) catch(ctx context.Context, p plant) (r result, err error) {
	begin := time.Now()
	defer func() { r.took = time.Since(begin) }()
	dir, err := os.MkdirTemp("", "fairlead-plant-")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := h.overlay(p, dir)
	if err != nil {
		return result{}, err
	}
	r.plant = p
	for _, t := range p.tests {
		output, err := h.test(ctx, t, "-overlay="+overlay, "-run="+t.run)
		if err != nil {
			return r, err
		}
		if r.test = failedTest(cmp.Or(strings.TrimPrefix(t.module, "."), t.pkg), output); r.test != "" {
			break
		}
	}
	if !p.explorer || h.explore == 0 {
		return r, nil
	}
	output, err := h.test(ctx, tests{module: ".", pkg: explorer}, "-v", "-overlay="+overlay, "-run=^TestExplore$",
		"-args", "-chaos.for="+h.explore.String(), "-chaos.shrink=false")
	if err != nil {
		return r, err
	}
	r.explorer = explored(output)
	return r, nil
}

// overlay writes the file with the bug, and the file that tells the go command of it.
func (h *hunt) overlay(p plant, dir string) (string, error) {
	original := filepath.Join(h.root, filepath.FromSlash(p.file))
	content, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	planted, err := p.in(string(content))
	if err != nil {
		return "", err
	}
	replaced := filepath.Join(dir, filepath.Base(p.file))
	encoded, err := json.Marshal(map[string]any{"Replace": map[string]string{original: replaced}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(replaced, []byte(planted), 0o600); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, encoded, 0o600)
}

// in returns the content of the file with the bug.
func (p plant) in(content string) (string, error) {
	if count := strings.Count(content, p.old); count != 1 {
		return "", fmt.Errorf("%s has the lines to replace %d times, not once", p.file, count)
	}
	return strings.Replace(content, p.old, p.new, 1), nil
}

// test runs tests and returns what they print. That tests fail is no error; that they do not compile is.
func (h *hunt) test(ctx context.Context, t tests, args ...string) (string, error) {
	flags := []string{"test", "-count=1", "-failfast", "-timeout=" + h.timeout(t).String()}
	if t.pkg == explorer {
		flags = append(flags, "-tags=chaos")
	}
	args = slices.Concat(flags, []string{t.pkg}, args)
	if t.drawn {
		args = append(args, "-rapid.nofailfile")
	}
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = filepath.Join(h.root, filepath.FromSlash(t.module))
	output, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil && (strings.Contains(string(output), "[build failed]") || strings.Contains(string(output), "[setup failed]")) {
		return "", fmt.Errorf("the tests do not compile:\n%s", output)
	}
	return string(output), nil
}

// timeout is how long tests may take. With a bug, some wait for what never comes: that counts as caught.
func (h *hunt) timeout(t tests) time.Duration {
	if t.pkg == explorer {
		return h.explore + 15*time.Minute
	}
	return 3 * time.Minute
}

// explorer is the package that explores.
const explorer = "./cmd/fairlead-controller/chaos"

var (
	failure   = regexp.MustCompile(`(?m)^(?:\s*--- FAIL: |\s+)(Test\S+) \(`)
	steps     = regexp.MustCompile(`programs, (\d+) steps`)
	invariant = regexp.MustCompile(`seed \d+: (I\d): `)
	judgement = regexp.MustCompile(`_test\.go:\d+: (?:step \d+, [^:]*: )?(I\d): `)
)

// failedTest returns the first test that failed, and of a program the invariant, or "".
func failedTest(pkg, output string) string {
	found := failure.FindStringSubmatch(output)
	if found == nil {
		return ""
	}
	test := strings.TrimPrefix(pkg, "./") + " " + found[1]
	if broken := judgement.FindStringSubmatch(output); broken != nil {
		test += " (" + broken[1] + ")"
	}
	return test
}

// explored returns which invariant the explorer found broken, and after how many steps; "" if none.
func explored(output string) string {
	broken, counted := invariant.FindStringSubmatch(output), steps.FindStringSubmatch(output)
	if broken == nil || counted == nil {
		return ""
	}
	return fmt.Sprintf("%s after %s steps", broken[1], counted[1])
}
