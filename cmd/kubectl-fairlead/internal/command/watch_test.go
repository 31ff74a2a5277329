// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

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
