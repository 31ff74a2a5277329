// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
)

// TestTimeout: the end of the time is the only error, whatever the client makes of it. A deadline would make client-go's rate limiter
// refuse the last requests earlier, with an error of its own.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		drawing := &tool{IOStreams: streams, getenv: func(string) string { return "" }}
		watch := watching{watch: true, timeout: 3 * time.Second, out: &output{}}
		began := time.Now()
		err := watch.draw(t.Context(), drawing, func(ctx context.Context, _ *screen.Screen) (bool, error) {
			if at, found := ctx.Deadline(); found {
				t.Errorf("the requests have a deadline, %s after the beginning", at.Sub(began))
			}
			if time.Since(began) < watchPeriod {
				return false, errNo
			}
			<-ctx.Done() // The request is under way when the time is over.
			return false, errors.New("rate: Wait(n=1) would exceed context deadline")
		})
		if !errors.Is(err, errTimeout) || err.Error() != "timed out after 3s" || time.Since(began) != watch.timeout {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestWatchIntoFile: a file gets a picture when something happened, and not because something is a second older.
func TestWatchIntoFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		drawing := &tool{IOStreams: streams, getenv: func(string) string { return "" }}
		watch := watching{watch: true, out: &output{}}
		began := time.Now()
		err := watch.draw(t.Context(), drawing, func(_ context.Context, to *screen.Screen) (bool, error) {
			age := time.Since(began)
			available := int(age / (12 * time.Second))
			to.Printf("web  Progressing, for %s", duration.HumanDuration(age))
			to.Row("Pods", fmt.Sprintf("%d of 2 are available", available))
			to.Printf("  %-5s Created", duration.HumanDuration(age+time.Minute))
			return available == 2, nil
		})
		want := `web  Progressing, for 0s
Pods         0 of 2 are available
  60s   Created
web  Progressing, for 12s
Pods         1 of 2 are available
  72s   Created
web  Progressing, for 24s
Pods         2 of 2 are available
  84s   Created
`
		if err != nil || out.String() != want {
			t.Errorf("%v, %s, want %s", err, out, want)
		}
	})
}
