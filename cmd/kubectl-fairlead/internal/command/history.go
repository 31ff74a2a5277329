// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/child"
)

// revision is an entry of a history, with its Application.
type revision struct {
	Namespace   string `json:"namespace"`
	Application string `json:"application"`
	edit.Revision
}

func (t *tool) history() *cobra.Command {
	var (
		chosen    selection
		out       output
		watch     watching
		noHeaders bool
	)
	cmd := &cobra.Command{
		Use:   "history NAME... [flags]",
		Short: "List the revisions of the pods of an Application",
		Long: long(`
			List the revisions of the pods of an Application, the newest first: which one is current, which one was healthy last, and
			which of the others were healthy once, or never. A revision is healthy once all of its pods have been available.

			IMAGE also has the images of sidecars and init containers that are not the same in all revisions.

			STATE is what the controller reported last; a line below the table says so if it has not reported on the last edit yet.
			A current one that waits has no pods yet: rollouts are paused, or an adoption holds the pods. One that is not rolled
			out has none either: the controller has reported on no Deployment of the Application's own, such as in a conflict.

			AGE is the time since the first rollout of these pods: an undo gives an old revision a new number and leaves its age.`),
		Example: examples(`
			# The revisions of the Application web
			kubectl fairlead history web

			# For a program, those of all Applications of the namespace
			kubectl fairlead history --all -o json`),
		ValidArgsFunction: t.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return watch.redraw(cmd.Context(), t, func(ctx context.Context, to *screen.Screen) error {
				revisions, unreported, missing, err := t.revisions(ctx, &chosen, args)
				if err != nil {
					return err
				}
				switch {
				case out.machine():
					err = encode(to.Writer(), out.format, revisions, true)
				case out.format == formatName:
					for _, r := range revisions {
						to.Line(resourceName(child.ControllerRevision.Group, child.ControllerRevision.Kind, r.Name))
					}
				case len(revisions) == 0 && !noHeaders:
					to.Line("No revisions yet.")
				default:
					err = printHistory(to.Writer(), revisions, chosen.many(args), noHeaders, t.now())
				}
				if err != nil {
					return err
				}
				if len(unreported) > 0 && out.format == "" && !noHeaders {
					to.Line(notReported(unreported, chosen.many(args)))
				}
				return missing
			})
		},
	}
	out.addTo(cmd, formatName)
	chosen.addTo(cmd)
	watch.addTo(cmd, &out, "Print it again whenever it changes.")
	addNoHeaders(cmd, &noHeaders)
	return cmd
}

// revisions returns those of the Applications, and which of these have a status that is about an earlier spec.
func (t *tool) revisions(ctx context.Context, chosen *selection, names []string) (revisions []revision, unreported []string, missing, err error) {
	clients, err := t.clients()
	if err != nil {
		return nil, nil, nil, err
	}
	applications, missing, err := chosen.readShown(ctx, t, clients, names)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, application := range applications {
		loaded, err := clients.Load(ctx, application)
		if err != nil {
			return nil, nil, nil, err
		}
		if loaded.Unreadable[child.ControllerRevision.Resource] != nil {
			return nil, nil, nil, errHistoryUnreadable
		}
		history := edit.History(loaded.Objects)
		if observed := application.Status.ObservedGeneration; len(history) > 0 && observed > 0 && observed < application.Generation && application.DeletionTimestamp == nil {
			unreported = append(unreported, application.Namespace+"/"+application.Name)
		}
		for _, r := range history {
			revisions = append(revisions, revision{application.Namespace, application.Name, r})
		}
	}
	return revisions, unreported, missing, nil
}

// notReported says that the states are those of an earlier spec. The controller may have carried the edit out: it batches what it reports.
func notReported(applications []string, many bool) string {
	of := ""
	if many {
		of = " of " + strings.Join(applications, ", ")
	}
	return "The controller has not reported on the last edit" + of + " yet: the states are from before it."
}

// errHistoryUnreadable means that nothing is known about the revisions.
var errHistoryUnreadable = errors.New("the revisions are not known, because you may not list controllerrevisions")

// printHistory prints a table. Of many Applications, each line begins with its own.
func printHistory(to io.Writer, revisions []revision, many, noHeaders bool, now time.Time) error {
	table := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	if !noHeaders {
		if many {
			fmt.Fprint(table, "NAMESPACE\tNAME\t")
		}
		fmt.Fprintln(table, "REVISION\tIMAGE\tSTATE\tAGE")
	}
	for _, r := range revisions {
		if many {
			fmt.Fprintf(table, "%s\t%s\t", r.Namespace, r.Application)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", r.Number, r.images(revisions), stateOf(r.Revision), duration.HumanDuration(now.Sub(r.Created)))
	}
	return table.Flush()
}

// images are the image of the application container, and those of the other containers whose image is not the same in all revisions.
func (r revision) images(all []revision) string {
	images := []string{r.Image}
	for _, container := range r.Containers {
		if slices.ContainsFunc(all, func(other revision) bool {
			return other.Namespace == r.Namespace && other.Application == r.Application && other.Image != "" && !slices.Contains(other.Containers, container)
		}) {
			images = append(images, container.Name+"="+container.Image)
		}
	}
	return strings.Join(images, ", ")
}

// stateOf is what is known about a revision.
func stateOf(r edit.Revision) string {
	var state []string
	for _, known := range []struct {
		is   bool
		what string
	}{
		{r.Current, "current"},
		{r.Waits, "waits"},
		{r.LastHealthy, "last healthy"},
		{r.WasHealthy && !r.LastHealthy, "was healthy"},
		{r.NeverHealthy, "never healthy"},
		{r.RolledBack, "rolled back"},
		{r.WasRolledBack && !r.RolledBack, "was rolled back"},
		{r.Pinned, "pinned"},
		{r.RestartOf > 0 && r.RestartOf < r.Number, fmt.Sprintf("restart of %d", r.RestartOf)},
		{r.RestartOf > r.Number, fmt.Sprintf("restart of the same pods as %d", r.RestartOf)}, // An undo gave that one a new number.
	} {
		if known.is {
			state = append(state, known.what)
		}
	}
	if len(state) == 0 {
		return "not rolled out" // The controller has reported on no rollout of the Application.
	}
	return strings.Join(state, ", ")
}
