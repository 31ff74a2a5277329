// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"fairlead.dev/fairlead/hack/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) {
	untilTheEnd := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	broken, died := errors.New("it broke"), errors.New("kubelet ended")
	failed := "\n[2/4] first\n\n[3/4] second\n  ✘ This step failed.\n  expected: something\n  but:      "
	tests := []struct {
		name string
		run  func(context.Context) error
		// cause is why the context of all steps ends meanwhile.
		cause error
		want  string
		err   error
	}{
		{name: "passes", run: func(context.Context) error { return nil }, want: "\n[2/4] first\n\n[3/4] second\n"},
		{name: "fails", run: func(context.Context) error { return broken }, want: failed + "it broke\n  more about second\n", err: broken},
		{name: "takes too long", run: untilTheEnd, want: failed + "not seen within 1m0s\n    context deadline exceeded\n  more about second\n", err: context.DeadlineExceeded},
		{name: "loses a process", run: untilTheEnd, cause: died, want: failed + "kubelet ended\n    context canceled\n  more about second\n", err: died},
		{name: "is interrupted", run: untilTheEnd, cause: process.ErrInterrupted, want: "\n[2/4] first\n\n[3/4] second\n", err: process.ErrInterrupted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancelCause(t.Context())
				defer end(nil)
				var out strings.Builder
				p := NewPrinter(&out, nil)
				runner := &Runner{Printer: p, Before: 1, After: 1, Diagnose: func(_ context.Context, step Step) { p.Note("more about %s", step.Title) }}
				err := runner.Run(ctx, []Step{
					{Title: "first", Run: func(context.Context) error { return nil }},
					{Title: "second", Expected: "something", Timeout: time.Minute, Run: func(ctx context.Context) error {
						if test.cause != nil {
							end(test.cause)
						}
						return test.run(ctx)
					}},
				})
				if !errors.Is(err, test.err) {
					t.Errorf("returned %v, want %v", err, test.err)
				}
				if out.String() != test.want {
					t.Errorf("printed\n%s\nwant\n%s", out.String(), test.want)
				}
			})
		})
	}
}

func TestAwait(t *testing.T) {
	p := NewPrinter(&strings.Builder{}, nil)
	calls := 0
	err := Await(t.Context(), p, "it", func(context.Context) (bool, string, error) {
		calls++
		// An error is seen, and not the end.
		return calls == 2, "", map[int]error{1: errors.New("not yet")}[calls]
	})
	if err != nil || calls != 2 {
		t.Errorf("got %v after %d calls", err, calls)
	}

	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("not within a moment"))
	defer cancel()
	err = Await(ctx, p, "something", func(context.Context) (bool, string, error) { return false, "nothing", nil })
	if err == nil || err.Error() != "not within a moment: waiting for something, last seen: nothing" {
		t.Errorf("got %v", err)
	}
}
