// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/timeline"
	"fairlead.dev/fairlead/pkg/debug"
)

// timelinePeriod is how often a followed timeline is asked for again.
const timelinePeriod = time.Second

func (t *tool) timeline() *cobra.Command {
	var (
		out     output
		address string
		follow  bool
	)
	cmd := &cobra.Command{
		Use:   "timeline NAME [flags]",
		Short: "Show what the controller did for an Application, and why, stage by stage",
		Long: long(`
			Show what the controller recorded about an Application: each change that it noticed, each sync with its trigger, each
			step with its reason, each write. Where the cluster has the aggregated API with timelines, and lets you, it has them.
			Otherwise the plugin asks a controller at --address, which records only with --debug-bind-address, as make run sets it; the
			log has the address. In a cluster, forward that port of the leader's pod first.`),
		Example: examples(`
			# What happened to web
			kubectl fairlead timeline web

			# The same, as a controller on this machine recorded it
			kubectl fairlead timeline web --address=http://127.0.0.1:6060

			# What happens to it from now on too
			kubectl fairlead timeline web -f`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: t.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			namespace, _, err := t.factory.ToRawKubeConfigLoader().Namespace()
			if err != nil {
				return err
			}
			name, err := nameOf(args[0])
			if err != nil {
				return err
			}
			if where, err := url.Parse(address); err != nil || where.Scheme == "" || where.Host == "" {
				return usageError(cmd.CommandPath(), "--address is %q, but must be a URL such as http://127.0.0.1:6060", address)
			}
			atAddress := cmd.Flags().Changed("address")
			fetch := func(ctx context.Context) (debug.Timeline, error) {
				if !atAddress {
					if recorded, served := t.servedTimeline(ctx, namespace, name); served {
						return recorded, nil
					}
				}
				recorded, err := timeline.Fetch(ctx, address, namespace, name)
				return recorded, timelineError(address, namespace+"/"+name, err)
			}
			if out.machine() {
				recorded, err := fetch(cmd.Context())
				if err != nil {
					return err
				}
				return encode(t.Out, out.format, []debug.Timeline{recorded}, false)
			}
			return t.followTimeline(cmd.Context(), follow, fetch)
		},
	}
	out.addTo(cmd)
	cmd.Flags().StringVar(&address, "address", "http://127.0.0.1:6060", "Where the controller serves its live view.")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "Go on with what happens from now on.")
	return cmd
}

func (t *tool) followTimeline(ctx context.Context, follow bool, fetch func(context.Context) (debug.Timeline, error)) error {
	last := uint64(0)
	err := wait.PollUntilContextCancel(ctx, timelinePeriod, true, func(ctx context.Context) (bool, error) {
		recorded, err := fetch(ctx)
		if err != nil {
			return false, err
		}
		last = timeline.Print(t.screen(), recorded.Events, last)
		return !follow, nil
	})
	if errors.Is(err, context.Canceled) {
		return nil // The user ended it.
	}
	return err
}

// timelineError says what to do if no controller answers.
func timelineError(address, name string, err error) error {
	failed := (*url.Error)(nil)
	switch {
	case errors.Is(err, timeline.ErrUnknown):
		return fmt.Errorf("%s: %w", name, err)
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &failed):
		return fmt.Errorf("no controller answers at %s: start it with --debug-bind-address, and pass its address with --address: %w", address, err)
	default:
		return err
	}
}
