// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
)

func (t *tool) history() *cobra.Command {
	var (
		out       output
		noHeaders bool
	)
	cmd := &cobra.Command{
		Use:   "history NAME [flags]",
		Short: "List the revisions of the pods of an Application",
		Long: long(`
			List the revisions of the pods of an Application, the newest first: which one runs, which one was healthy last, and
			which one was rolled back.`),
		Example: examples(`
			# The revisions of the Application web
			kubectl fairlead history web

			# For a program
			kubectl fairlead history web -o json`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: t.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			revisions, err := t.revisions(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if out.machine() {
				return encode(t.Out, out.format, revisions, true)
			}
			return printHistory(t.Out, revisions, noHeaders, t.now())
		},
	}
	out.addTo(cmd)
	cmd.Flags().BoolVar(&noHeaders, "no-headers", false, "Print no heading.")
	return cmd
}

func (t *tool) revisions(ctx context.Context, name string) ([]edit.Revision, error) {
	clients, err := t.clients()
	if err != nil {
		return nil, err
	}
	applications, err := (&selection{}).read(ctx, t, clients, []string{name})
	if err != nil {
		return nil, err
	}
	loaded, err := clients.Load(ctx, applications[0])
	if err != nil {
		return nil, err
	}
	return edit.History(applications[0], loaded.Children), nil
}

func printHistory(to io.Writer, revisions []edit.Revision, noHeaders bool, now time.Time) error {
	table := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	if !noHeaders {
		fmt.Fprintln(table, "REVISION\tIMAGE\tSTATE\tAGE")
	}
	for _, r := range revisions {
		var state []string
		if r.Current {
			state = append(state, "current")
		}
		if r.LastHealthy {
			state = append(state, "last healthy")
		}
		if r.RolledBack {
			state = append(state, "rolled back")
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", r.Number, r.Image, strings.Join(state, ", "), duration.HumanDuration(now.Sub(r.Created)))
	}
	return table.Flush()
}
