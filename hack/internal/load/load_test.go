// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAtRate(t *testing.T) {
	tests := []struct {
		name     string
		takes    time.Duration
		inFlight int
		want     float64
	}{
		{"as fast as asked", 0, 1, 10},
		{"however long each takes", 500 * time.Millisecond, 10, 8.333}, // 20 turns, and the last one takes a while.
		{"no more than in flight", 500 * time.Millisecond, 1, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var done atomic.Int32
				rate, err := AtRate(t.Context(), 10, 2*time.Second, test.inFlight, func(context.Context, int) error {
					<-time.After(test.takes)
					done.Add(1)
					return nil
				})
				if err != nil || done.Load() != 20 || rate < 0.95*test.want || rate > 1.1*test.want {
					t.Errorf("%d turns at %g a second, %v; want 20 at %g", done.Load(), rate, err, test.want)
				}
			})
		})
	}
	broken := errors.New("it broke")
	if _, err := AtRate(t.Context(), 1000, time.Second, 1, func(context.Context, int) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int32
		stop := Keep(t.Context(), 2, time.Second, func(context.Context) { done.Add(1) })
		<-time.After(2500 * time.Millisecond)
		stop()
		stop() // Twice does no harm.
		if done.Load() != 6 {
			t.Errorf("done %d times, want 6: two workers, at once and after each second", done.Load())
		}
	})
}
