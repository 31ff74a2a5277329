// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
)

// watching are the flags -w and --timeout.
type watching struct {
	watch   bool
	timeout time.Duration
}

// watchPeriod is how often a watched screen is read again. It draws many objects of many kinds, so a watch on each would
// cost the API server more.
const watchPeriod = 2 * time.Second

func (w *watching) addTo(cmd *cobra.Command, help string) {
	cmd.Flags().BoolVarP(&w.watch, "watch", "w", false, help)
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "How long to watch, for example 5m; 0 is for ever.")
}

// errTimeout ends a watch that did not see what it waited for.
var errTimeout = errors.New("timed out")

// draw draws once, or with -w again whenever the picture changes, until it reports that it is done.
func (w *watching) draw(ctx context.Context, t *tool, picture func(context.Context, *screen.Screen) (done bool, err error)) error {
	to := t.screen()
	if !w.watch {
		_, err := picture(ctx, to)
		return err
	}
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, w.timeout, errTimeout)
		defer cancel()
	}
	last := ""
	err := wait.PollUntilContextCancel(ctx, watchPeriod, true, func(ctx context.Context) (bool, error) {
		var frame bytes.Buffer
		done, err := picture(ctx, to.Into(&frame))
		if frame.String() != last && (err == nil || errors.Is(err, errNo)) {
			last = frame.String()
			to.Clear()
			if _, err := frame.WriteTo(t.Out); err != nil {
				return false, err
			}
		}
		if errors.Is(err, errNo) && !done {
			return false, nil
		}
		return done, err
	})
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return errTimeout
	case errors.Is(err, context.Canceled):
		return nil // The user ended it.
	default:
		return err
	}
}
