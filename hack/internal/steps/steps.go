// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps runs the steps of a program, such as the demo or the end-to-end test, and prints what they show.
package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/hack/internal/process"
)

// Step is one part of a program. It passes only if it has seen what it expects.
type Step struct {
	Title string
	// Expected says what must be seen; it is printed if that is not seen.
	Expected string
	// Timeout bounds the step; 0 means no limit.
	Timeout time.Duration
	Run     func(context.Context) error
}

// Runner runs steps one after the other.
type Runner struct {
	Printer *Printer
	// Before and After are the numbers of steps that other processes run before and after these.
	Before, After int
	// Diagnose, unless nil, prints more about a failed step.
	Diagnose func(context.Context, Step)
}

// StepError is a step that failed. Run has printed it.
type StepError struct {
	Step  Step
	Cause error
}

func (f *StepError) Error() string { return fmt.Sprintf("%s: %v", f.Step.Title, f.Cause) }
func (f *StepError) Unwrap() error { return f.Cause }

// Run runs the steps until one fails, which is a *StepError, or a signal interrupts them, which is process.ErrInterrupted.
func (r *Runner) Run(ctx context.Context, steps []Step) error {
	for i, step := range steps {
		r.Printer.Step(r.Before+i+1, r.Before+len(steps)+r.After, step.Title)
		if err := run(ctx, step); err != nil {
			return r.fail(ctx, step, err)
		}
	}
	return nil
}

// fail prints a failed step, unless a signal interrupted it, and returns the error of Run.
func (r *Runner) fail(ctx context.Context, step Step, err error) error {
	if errors.Is(context.Cause(ctx), process.ErrInterrupted) {
		return process.ErrInterrupted
	}
	r.Printer.Bad("This step failed.")
	if step.Expected != "" {
		r.Printer.Printf("  expected: %s", step.Expected)
	}
	r.Printer.Printf("  but:      %v", err)
	if r.Diagnose != nil {
		r.Diagnose(context.WithoutCancel(ctx), step)
	}
	return &StepError{Step: step, Cause: err}
}

func run(ctx context.Context, step Step) error {
	if step.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, step.Timeout, fmt.Errorf("not seen within %s", step.Timeout))
		defer cancel()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := step.Run(ctx)
	// Why the context ended says more than what the step makes of its end.
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w\n%w", cause, err)
	}
	return err
}

// Await repeats check until it is done, and shows meanwhile what check saw. An error of check is shown too, and the next
// check may succeed: a request can fail while a server restarts.
func Await(ctx context.Context, p *Printer, what string, check func(context.Context) (done bool, seen string, err error)) error {
	const period = 100 * time.Millisecond
	began := time.Now()
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		done, seen, err := check(ctx)
		if err == nil && done {
			return nil
		}
		if err != nil {
			seen = err.Error()
		}
		p.Waiting(what, seen, began)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: waiting for %s, last seen: %s", context.Cause(ctx), what, seen)
		}
	}
}
