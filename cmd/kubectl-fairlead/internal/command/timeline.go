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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/timeline"
	"fairlead.dev/fairlead/pkg/debug"
)

// timelinePeriod is how often a followed timeline is asked for again.
const timelinePeriod = time.Second

func (t *tool) timeline() *cobra.Command {
	var (
		chosen  selection
		out     output
		address string
		follow  bool
	)
	cmd := &cobra.Command{
		Use:   "timeline NAME... [flags]",
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
		ValidArgsFunction: t.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow && out.machine() {
				return usageError(cmd.CommandPath(), "-f is for text: leave out -f or -o")
			}
			if where, err := url.Parse(address); err != nil || where.Scheme == "" || where.Host == "" {
				return usageError(cmd.CommandPath(), "--address is %q, but must be a URL such as http://127.0.0.1:6060", address)
			}
			keys, err := chosen.keys(cmd.Context(), t, args)
			if err != nil {
				return err
			}
			fetch := t.timelineFetcher(address, !cmd.Flags().Changed("address"))
			if out.machine() {
				return t.encodeTimelines(cmd.Context(), out, keys, chosen.many(args), fetch)
			}
			return t.followTimelines(cmd.Context(), follow, keys, chosen.many(args), fetch)
		},
	}
	out.addTo(cmd)
	chosen.addTo(cmd)
	cmd.Flags().StringVar(&address, "address", "http://127.0.0.1:6060", "Where the controller serves its live view.")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "Go on with what happens from now on.")
	cmd.Flags().BoolVarP(&follow, "watch", "w", false, "The same as --follow.")
	return cmd
}

// fetchTimeline gets what was recorded about an Application.
type fetchTimeline func(context.Context, types.NamespacedName) (debug.Timeline, error)

// timelineFetcher asks the cluster, if the user chose no controller, and then the controller at the address.
func (t *tool) timelineFetcher(address string, ofCluster bool) fetchTimeline {
	return func(ctx context.Context, of types.NamespacedName) (debug.Timeline, error) {
		if ofCluster {
			if recorded, served := t.servedTimeline(ctx, of.Namespace, of.Name); served {
				return recorded, nil
			}
		}
		recorded, err := timeline.Fetch(ctx, address, of.Namespace, of.Name)
		if err != nil && ofCluster { // A controller that the user chose may be of another cluster.
			if gone := t.gone(ctx, of); gone != nil {
				return recorded, gone
			}
		}
		return recorded, timelineError(address, of.String(), err)
	}
}

func (t *tool) encodeTimelines(ctx context.Context, out output, of []types.NamespacedName, list bool, fetch fetchTimeline) error {
	var timelines []debug.Timeline
	var unknown []error
	for _, key := range of {
		recorded, err := fetch(ctx, key)
		switch {
		case isUnknown(err):
			unknown = append(unknown, err)
		case err != nil:
			return err
		default:
			timelines = append(timelines, recorded)
		}
	}
	if len(timelines) > 0 {
		if err := encode(t.Out, out.format, timelines, list); err != nil {
			return err
		}
	}
	return allUnknown(unknown)
}

// isUnknown reports whether an Application has no timeline, which hides none of the others.
func isUnknown(err error) bool {
	return errors.Is(err, timeline.ErrUnknown) || apierrors.IsNotFound(err)
}

func allUnknown(each []error) error {
	if len(each) == 0 {
		return nil
	}
	return &missingError{each}
}

// gone says that the Application does not exist; nil if it does, or the cluster does not answer.
func (t *tool) gone(ctx context.Context, of types.NamespacedName) error {
	clients, err := t.clients()
	if err == nil {
		_, err = clients.Fairlead.AppsV1().Applications(of.Namespace).Get(ctx, of.Name, metav1.GetOptions{})
	}
	if !apierrors.IsNotFound(err) {
		return nil
	}
	return misspelt(ctx, clients, of, t.notFound(err))
}

// followTimelines prints what is new, Application by Application. Of many, each line begins with its own.
func (t *tool) followTimelines(ctx context.Context, follow bool, of []types.NamespacedName, many bool, fetch fetchTimeline) error {
	last := map[types.NamespacedName]uint64{}
	err := wait.PollUntilContextCancel(ctx, timelinePeriod, true, func(ctx context.Context) (bool, error) {
		var unknown []error
		for _, key := range of {
			recorded, err := fetch(ctx, key)
			if isUnknown(err) {
				unknown = append(unknown, err)
				continue
			}
			if err != nil {
				return false, err
			}
			lead := ""
			if many {
				lead = key.String() + "  "
			}
			last[key] = timeline.Print(t.screen(), lead, recorded.Events, last[key])
		}
		return !follow, allUnknown(unknown)
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
		return fmt.Errorf("no controller answers at %s: start it with --debug-bind-address, and pass the address that its log has with --address: %w", address, err)
	default:
		return err
	}
}
