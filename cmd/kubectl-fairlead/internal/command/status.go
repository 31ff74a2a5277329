// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/summary"
	"fairlead.dev/fairlead/pkg/tree"
)

func (t *tool) status() *cobra.Command {
	var (
		chosen selection
		out    output
		watch  watching
	)
	cmd := &cobra.Command{
		Use:   "status NAME... [flags]",
		Short: "Show an Application on one screen; the exit code says whether it is ready",
		Long: long(`
			Show how an Application stands: whether it is ready and why not, the rollout, pods by reason, routes, autoscaler,
			class, and the last five Events.

			The exit code is 0 if every Application is ready, 1 if one is not, and 2 if that could not be found out. With
			--watch, the command ends when all are ready, when one is stalled, or after --timeout.`),
		Example: examples(`
			# How the Application web stands
			kubectl fairlead status web

			# In a pipeline: wait until it is ready, and fail if it is not within five minutes
			kubectl fairlead status web --watch --timeout=5m`),
		ValidArgsFunction: t.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return watch.untilReady(cmd.Context(), t, func(ctx context.Context, to *screen.Screen) (bool, error) {
				return t.drawStatus(ctx, to, &chosen, out, args)
			})
		},
	}
	out.addTo(cmd, formatName, formatWide)
	chosen.addTo(cmd)
	watch.addTo(cmd, &out, "Watch until the Application is ready or stalled.")
	return cmd
}

// drawStatus draws once. It is done when nothing will change without a user: all are ready, or one is stalled or suspended.
func (t *tool) drawStatus(ctx context.Context, to *screen.Screen, chosen *selection, out output, args []string) (done bool, err error) {
	clients, err := t.clients()
	if err != nil {
		return false, err
	}
	applications, missing, err := chosen.readShown(ctx, t, clients, args)
	if err != nil {
		return false, err
	}
	ready, stalled := true, false
	summaries := make([]summary.Summary, 0, len(applications))
	for _, application := range applications {
		loaded, err := clients.Load(ctx, application)
		if err != nil {
			return false, err
		}
		s := summary.Of(loaded)
		ready, stalled = ready && s.Ready, stalled || s.Stalled || s.Health == tree.Suspended
		summaries = append(summaries, s)
	}
	if err := t.printStatus(to, out, summaries, chosen.many(args)); err != nil {
		return false, err
	}
	if missing != nil {
		return false, missing
	}
	if !ready {
		return stalled, errNo
	}
	return true, nil
}

func (t *tool) printStatus(to *screen.Screen, out output, summaries []summary.Summary, list bool) error {
	if out.machine() {
		return encode(to.Writer(), out.format, summaries, list)
	}
	for i, s := range summaries {
		if out.format == formatName {
			to.Line(applicationName(s.Name))
			continue
		}
		if i > 0 {
			to.Blank()
		}
		s.Print(to, t.now(), out.format == formatWide)
	}
	return nil
}
