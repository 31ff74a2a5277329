// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
)

func (t *tool) undo() *cobra.Command {
	e := &editing{tool: t}
	var to int64
	cmd := &cobra.Command{
		Use:   "undo NAME... [flags]",
		Short: "Take the pods of an Application back to a former revision",
		Long: long(`
			Write what a former revision said about the pods into the spec, with what their class gave them then: image, command,
			variables and the like. The number of pods, routes and policies stay. A revision that spec.rollback.toRevision names
			is named no more. The content of ConfigMaps and Secrets is not kept, so it does not come back. If all that differs comes from
			the class, no spec says otherwise: then the revision is named in spec.rollback.toRevision, and stays until you remove that.

			Without --to-revision it is the last healthy revision. If that one runs, as the spec says, it is the one before;
			revisions that never were healthy are left out, and so are restarts of what runs. If none has been healthy, it is what runs, if
			the spec says something else.` + "\n\n" + editsNote),
		Example: examples(`
			# Back to the last healthy revision
			kubectl fairlead undo web

			# Say what going back to revision 3 would do
			kubectl fairlead undo web --to-revision=3 --dry-run=client`),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				if _, err := strconv.ParseInt(args[1], 10, 64); err == nil {
					return usageError(cmd.CommandPath(), "pass the revision with --to-revision=%s", args[1])
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if to < 0 {
				return usageError(cmd.CommandPath(), "--to-revision is %d, but revisions begin at 1", to)
			}
			return e.run(cmd, args, func(ctx context.Context, clients *cluster.Clients, application *v1.Application) (edit.Edit, error) {
				loaded, err := clients.Load(ctx, application)
				if err != nil {
					return nil, err
				}
				if loaded.Unreadable[child.ControllerRevision.Resource] != nil {
					return nil, errHistoryUnreadable
				}
				revisions := edit.History(loaded.Objects)
				target, err := edit.Target(revisions, e.asksFor(ctx, application, loaded), to)
				return e.undoOrPin(ctx, target, loaded, edit.Undo(target, loaded.Children, edit.GoesFurther(revisions, target, to))), err
			})
		},
	}
	cmd.Flags().Int64Var(&to, "to-revision", 0, "The revision to go back to; see 'kubectl fairlead history'.")
	e.addEditTo(cmd)
	return cmd
}

// asksFor is the number of the revision of what the spec says about the pods; 0 if the spec is not carried out.
func (e *editing) asksFor(ctx context.Context, application *v1.Application, loaded *cluster.Loaded) int64 {
	var current int64
	if status := application.Status.Revision; status != nil {
		current = status.Current
	}
	pinned := edit.PinOf(application)
	number, err := e.revisionOf(ctx, application, loaded)
	switch {
	case pinned > 0 && (err != nil || pinned != current):
		return 0
	case err != nil:
		return current // The best guess without permission to list classes.
	default:
		return number
	}
}

// undoOrPin is the undo, unless no spec leads to the revision, since the class decides all that differs from it. Then it names the revision.
func (e *editing) undoOrPin(ctx context.Context, target edit.Revision, loaded *cluster.Loaded, undo edit.Edit) edit.Edit {
	return func(application *v1.Application) (string, error) {
		before := application.DeepCopy()
		what, err := undo(application)
		if err != nil || !e.classDiffers(ctx, target, loaded, before, application) {
			return what, err
		}
		before.DeepCopyInto(application)
		return edit.Pin(target)(application)
	}
}

// classDiffers reports whether the undo changes nothing that the class leaves to the spec, and the pods are not those of the revision.
// Without permission to read the class, it goes by what runs.
func (e *editing) classDiffers(ctx context.Context, target edit.Revision, loaded *cluster.Loaded, before, after *v1.Application) bool {
	platform, err := e.platform(ctx, after)
	if err != nil {
		runs := after.Status.Revision
		return after.Status.Class != nil && runs != nil && (runs.Current != target.Number || after.IsRolledBack()) &&
			equality.Semantic.DeepEqual(before.Spec, after.Spec)
	}
	was, becomes := class.Resolve(before, platform.Rules), class.Resolve(after, platform.Rules)
	return becomes.Applied != nil && edit.SamePods(was.Application, becomes.Application) && !target.Describes(becomes.Application)
}
