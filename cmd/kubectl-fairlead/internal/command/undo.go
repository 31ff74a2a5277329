// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/reference"
)

func (t *tool) undo() *cobra.Command {
	e := &editing{tool: t}
	var to int64
	cmd := &cobra.Command{
		Use:   "undo NAME... [flags]",
		Short: "Take the pods of an Application back to a former revision",
		Long: long(`
			Write what a former revision said about the pods into the spec: image, command, variables and the like. What their class
			gave them then, and gives no more, is written too. From then on the spec decides about that, and no change of the class
			reaches it; undo names these fields. The number of pods, routes and policies stay. A revision that
			spec.rollback.toRevision names is named no more. The files of spec.config come back, too. The content of other
			ConfigMaps and of Secrets is not kept, so it does not. If the class decides what differs, no change of the spec leads
			back: undo then names the revision in spec.rollback.toRevision, which stays until you remove it.

			Without --to-revision, or with 0, it is the last healthy revision. If that one runs, as the spec says, it is the one
			before; revisions that never were healthy are left out, and so are restarts of what runs. If none has been healthy, it
			is what runs, if the spec says something else.` + "\n\n" + editsNote),
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
			if to > 0 {
				e.unchanged = func(application *v1.Application) string { return asksAlready(application, to) }
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
				return e.undoOrPin(ctx, target, edit.Undo(target, loaded.Children, edit.GoesFurther(revisions, target, to))), err
			})
		},
	}
	cmd.Flags().Int64Var(&to, "to-revision", 0, "The revision to go back to, of those in 'kubectl fairlead history'; 0: the last healthy one, or the one before.")
	e.addEditTo(cmd)
	return cmd
}

// asksAlready says why an undo to a revision changes nothing.
func asksAlready(application *v1.Application, to int64) string {
	said := fmt.Sprintf(": it asks for the pods of revision %d already", to)
	if status := application.Status.Revision; status != nil && status.RolledBackFrom == to && application.IsRolledBack() && application.Status.ObservedGeneration == application.Generation {
		said += fmt.Sprintf(", which failed and was rolled back, so revision %d runs", status.Current)
	}
	if len(reference.FromSpec(&application.Spec)) > 0 {
		said += ". The content of ConfigMaps and Secrets does not go back"
	}
	return said
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
	case number == 0 && slices.ContainsFunc(edit.History(loaded.Objects), func(r edit.Revision) bool { return r.Number == current && r.Describes(withStatusClass(application)) }):
		return current // The spec is refused for a field that is not about the pods, such as the number of them.
	default:
		return number
	}
}

// undoOrPin is the undo. If no spec leads to the revision, since the class decides what differs from it, it names the revision instead.
func (e *editing) undoOrPin(ctx context.Context, target edit.Revision, undo edit.Edit) edit.Edit {
	return func(application *v1.Application) (string, error) {
		in, err := e.classed(ctx, application)
		switch {
		case err != nil:
			return "", err
		case in == nil:
			return undo(application)
		default:
			return in.undo(target, undo)(application)
		}
	}
}

// classed is what the class of an Application makes of its specs.
type classed struct {
	// merge adds the defaults.
	merge func(*v1.Application) *v1.Application
	// refuses reports whether the class refuses pods that have the defaults of another time. Nil: that is not known.
	refuses func(*v1.Application) bool
}

func (c *classed) undo(target edit.Revision, undo edit.Edit) edit.Edit {
	return func(application *v1.Application) (string, error) {
		before := application.DeepCopy()
		what, err := undo(application)
		if err != nil {
			return "", err
		}
		becomes := c.merge(application)
		differs := ""
		switch {
		case target.Describes(becomes):
		case edit.SamePods(c.merge(before), becomes), before.IsRolledBack():
			before.DeepCopyInto(application)
			return edit.Pin(target)(application)
		default:
			differs = fmt.Sprintf("; the class makes the pods differ from revision %d, ", target.Number)
			former := c.merge(before).DeepCopy()
			if _, err := undo(former); err == nil && c.refuses != nil && c.refuses(former) {
				differs += "which it refuses"
			} else {
				differs += "unless you name it in spec.rollback.toRevision"
			}
		}
		own, err := edit.Follow(application, before, c.merge)
		return what + edit.OwnFrom(own) + differs, err
	}
}

// classed returns nil if the Application has no class. Without permission to find the class out, it is what status says of it.
func (e *editing) classed(ctx context.Context, application *v1.Application) (*classed, error) {
	platform, err := e.platform(ctx, application)
	denied := (*classesForbiddenError)(nil)
	if err != nil && !errors.As(err, &denied) {
		return nil, err
	}
	if err == nil && class.Resolve(application, platform.Rules).Applied != nil {
		return classedBy(platform), nil
	}
	if applied := application.Status.Class; applied == nil || applied.Defaults == nil {
		return nil, nil
	}
	return &classed{merge: withStatusClass}, nil
}

// withStatusClass adds the defaults that the controller applied last, as status says.
func withStatusClass(application *v1.Application) *v1.Application {
	applied := application.Status.Class
	if applied == nil || applied.Defaults == nil {
		return application
	}
	merged, _ := class.Merge(application, applied.Defaults)
	return merged
}

// classedBy is for an Application that has a class of the platform.
func classedBy(platform preview.Platform) *classed {
	return &classed{
		merge: func(a *v1.Application) *v1.Application {
			return class.Resolve(a, platform.Rules).Application.DeepCopy()
		},
		refuses: func(a *v1.Application) bool {
			errs, _ := class.Resolve(a, platform.Rules).ValidateAs(a, platform.Validation)
			return len(errs) > 0
		},
	}
}
