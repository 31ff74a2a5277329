// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/fairlead/hack/internal/process"
)

func TestPerformAll(t *testing.T) {
	untilTheEnd := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	broken := errors.New("it broke")

	tests := []struct {
		name string
		run  func(context.Context) error
		// interrupted tells that Ctrl-C was pressed before.
		interrupted bool
		want        string
	}{
		{
			name: "succeeds",
			run:  func(context.Context) error { return nil },
		},
		{
			name: "fails",
			run:  func(context.Context) error { return broken },
			want: `

			x This step failed: second
			  expected:  something
			  but:       it broke
			  last seen:
			    web is not ready
			`,
		},
		{
			name: "takes too long",
			run:  untilTheEnd,
			want: `

			x This step failed: second
			  expected:  something
			  but:       not seen within 1m0s
			  last seen:
			    web is not ready
			`,
		},
		{
			name:        "is interrupted",
			interrupted: true,
			run:         untilTheEnd,
			want: `

			x This step failed: first
			  expected:  nothing
			  but:       interrupted
			  last seen:
			    web is not ready
			`,
		},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			steps := []step{
				{title: "first", expected: "nothing", deadline: time.Second, run: func(context.Context) error { return nil }},
				{title: "second", expected: "something", deadline: time.Minute, run: test.run},
			}
			ctx, interrupt := context.WithCancelCause(t.Context())
			defer interrupt(nil)
			if test.interrupted {
				interrupt(process.ErrInterrupted)
			}
			err := performAll(ctx, &screen{out: io.Discard}, steps, func() []line { return []line{{text("web is not ready")}} })
			failed := (*failure)(nil)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%s: failed with %v", test.name, err)
			case test.want != "" && !errors.As(err, &failed):
				t.Errorf("%s: returned %v, want a failure", test.name, err)
			case test.want != "":
				expectLines(t, style{}, failed.report(style{}), test.want)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234 * time.Microsecond: "1.2 ms",
		9999 * time.Microsecond: "10.0 ms",
		45 * time.Millisecond:   "45 ms",
		1260 * time.Millisecond: "1.3 s",
		2 * time.Minute:         "120.0 s",
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%s) is %q, want %q", d, got, want)
		}
	}
}
