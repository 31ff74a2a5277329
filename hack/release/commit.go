// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// commit is what is released.
type commit struct {
	hash string
	// time is the only time in a release, so that two runs write the same bytes.
	time time.Time
	// previous is the last tag before it, or "".
	previous string
	// changes are the subjects of the commits since then, from the oldest.
	changes []string
}

func readCommit(ctx context.Context, root, version string) (commit, error) {
	var c commit
	changed, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return c, err
	}
	if changed != "" {
		return c, fmt.Errorf("the work tree has changes; commit or remove them first:\n%s", changed)
	}
	if c.hash, err = git(ctx, root, "rev-parse", "HEAD"); err != nil {
		return c, err
	}
	if tagged, err := git(ctx, root, "rev-parse", "--verify", "--quiet", "refs/tags/"+version+"^{commit}"); err == nil && tagged != c.hash {
		return c, fmt.Errorf("the tag %s is on another commit, %s; check that out or choose another version", version, tagged)
	}
	seconds, err := git(ctx, root, "log", "-1", "--format=%ct")
	if err != nil {
		return c, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return c, fmt.Errorf("parse the time of the commit: %w", err)
	}
	c.time = time.Unix(unix, 0).UTC()

	// Without a tag, everything is new.
	span := []string{"HEAD"}
	if tag, err := git(ctx, root, "describe", "--tags", "--abbrev=0", "--match=v[0-9]*.[0-9]*.[0-9]*", "--exclude="+version); err == nil {
		c.previous, span = tag, []string{tag + "..HEAD"}
	}
	subjects, err := git(ctx, root, append([]string{"log", "--no-merges", "--reverse", "--format=%s"}, span...)...)
	if err != nil {
		return c, err
	}
	if subjects != "" {
		c.changes = strings.Split(subjects, "\n")
	}
	return c, nil
}

func git(ctx context.Context, root string, arguments ...string) (string, error) {
	return output(exec.CommandContext(ctx, "git", append([]string{"-C", root}, arguments...)...))
}

// output runs a command and returns what it prints. An error has what it printed to stderr.
func output(command *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err), errors.New(strings.TrimSpace(stderr.String())))
	}
	return strings.TrimSpace(stdout.String()), nil
}
