// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
)

// watching are the flags -w and --timeout.
type watching struct {
	watch   bool
	timeout time.Duration
	out     *output
}

// watchPeriod is how often a watched screen is read again. It draws many objects of many kinds, so a watch on each would
// cost the API server more.
const watchPeriod = 2 * time.Second

func (w *watching) addTo(cmd *cobra.Command, out *output, help string) {
	w.out = out
	cmd.Flags().BoolVarP(&w.watch, "watch", "w", false, help)
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "How long to watch, for example 5m; 0 is for ever.")
}

// errTimeout ends a watch that did not see what it waited for.
var errTimeout = errors.New("timed out")

// endAfter cancels the context after a while. It has no deadline: client-go refuses a request that it could not send before one, with
// an error of its rate limiter and before the time is over.
func endAfter(ctx context.Context, timeout time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(timeout, func() { cancel(errTimeout) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// draw draws once, or with -w again whenever the picture changes, until it reports that it is done.
func (w *watching) draw(ctx context.Context, t *tool, picture func(context.Context, *screen.Screen) (done bool, err error)) error {
	to := t.screen()
	if !w.watch {
		_, err := picture(ctx, to)
		return err
	}
	if w.timeout > 0 {
		var cancel func()
		ctx, cancel = endAfter(ctx, w.timeout)
		defer cancel()
	}
	last := ""
	err := wait.PollUntilContextCancel(ctx, watchPeriod, true, func(ctx context.Context) (bool, error) {
		var frame bytes.Buffer
		done, err := picture(ctx, to.Into(&frame))
		missing := (*missingError)(nil)
		if w.isNews(to, frame.String(), last) && (err == nil || errors.Is(err, errNo) || errors.As(err, &missing)) {
			if last != "" && w.out.format == formatYAML {
				fmt.Fprintln(t.Out, "---")
			}
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
		return fmt.Errorf("%w after %s", errTimeout, w.timeout)
	case errors.Is(err, context.Canceled):
		return nil // The user ended it.
	default:
		return err
	}
}

// ages are durations as the pictures have them, with the spaces that pad them.
var ages = regexp.MustCompile(`\s(\d+[ydhms])+[,;.)]?\s*`)

// isNews reports whether a frame has to be drawn. A terminal shows each age; in a file, older ages alone would repeat everything else.
func (w *watching) isNews(to *screen.Screen, frame, last string) bool {
	if to.Terminal() {
		return frame != last
	}
	return ages.ReplaceAllString(frame, "") != ages.ReplaceAllString(last, "")
}

// redraw draws once, or with -w until the user or --timeout ends it.
func (w *watching) redraw(ctx context.Context, t *tool, picture func(context.Context, *screen.Screen) error) error {
	err := w.draw(ctx, t, func(ctx context.Context, to *screen.Screen) (bool, error) { return false, picture(ctx, to) })
	if errors.Is(err, errTimeout) {
		return nil
	}
	return err
}

// untilReady draws once, or with -w until all Applications are ready. Those that are not at the end of --timeout are the answer no.
func (w *watching) untilReady(ctx context.Context, t *tool, picture func(context.Context, *screen.Screen) (done bool, err error)) error {
	err := w.draw(ctx, t, picture)
	if errors.Is(err, errTimeout) {
		fmt.Fprintf(t.ErrOut, "not ready within %s\n", w.timeout)
		return errNo
	}
	return err
}
