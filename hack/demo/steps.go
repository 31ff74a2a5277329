// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// step is one part of the demo. It succeeds only if what it expects was seen.
type step struct {
	// title says what happens now.
	title string
	// expected says what must be seen, for the report if it was not.
	expected string
	// deadline bounds the step.
	deadline time.Duration
	run      func(context.Context) error
}

// failure is a step that did not succeed, with what a person needs to find out why.
type failure struct {
	step  step
	cause error
	// seen is the last state of what the step waited for.
	seen []line
}

func (f *failure) Error() string { return fmt.Sprintf("%s: %v", f.step.title, f.cause) }
func (f *failure) Unwrap() error { return f.cause }

// performAll runs the steps one after the other, until one fails. lastSeen is asked then.
func performAll(ctx context.Context, s *screen, steps []step, lastSeen func() []line) error {
	for i, step := range steps {
		s.print(nil, line{toned(faint, "[%d/%d] ", i+1, len(steps)), toned(strong, "%s", step.title)})
		if err := perform(ctx, step); err != nil {
			s.wipe()
			return &failure{step: step, cause: err, seen: lastSeen()}
		}
	}
	return nil
}

func perform(ctx context.Context, step step) error {
	ctx, cancel := context.WithTimeoutCause(ctx, step.deadline, fmt.Errorf("not seen within %s", step.deadline))
	defer cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// What a step makes of an ended context says less than the reason for which it ended.
	return causeOf(ctx, step.run(ctx))
}

// report describes the failure.
func (f *failure) report(s style) []line {
	lines := []line{
		nil,
		{s.mark(bad), toned(bad, " This step failed: %s", f.step.title)},
		{text("  expected:  %s", f.step.expected)},
	}
	for i, part := range strings.Split(f.cause.Error(), "\n") {
		label := "  but:       "
		if i > 0 {
			label = "             "
		}
		lines = append(lines, line{text("%s%s", label, part)})
	}
	if len(f.seen) > 0 {
		lines = append(lines, line{text("  last seen:")})
		for _, seen := range f.seen {
			lines = append(lines, append(line{text("    ")}, seen...))
		}
	}
	return lines
}

// since is how long something took, for people.
func since(began time.Time) string { return duration(time.Since(began)) }

func duration(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
