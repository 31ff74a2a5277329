// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// simple is an edit without arguments but the names.
func (t *tool) simple(name, short, about, example string, newEdit func() edit.Edit) *cobra.Command {
	e := &editing{tool: t}
	cmd := &cobra.Command{
		Use:   name + " NAME... [flags]",
		Short: short,
		Long:  long(about + "\n\n" + editsNote),
		Example: examples(strings.ReplaceAll(`
			# `+example+`
			kubectl fairlead NAME web

			# Only say what that would do, for all Applications with a label
			kubectl fairlead NAME -l team=shop --dry-run=client`, "NAME", name)),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args, fixed(newEdit())) },
	}
	e.addEditTo(cmd)
	return cmd
}

// editsNote is about all edits.
const editsNote = `The command says what it changes and what becomes of the pods. It changes the very spec that it read: if another
client changes it meanwhile, nothing is written. If a tool keeps your Applications as Git has them, change them in Git instead.
Several Applications are edited one after the other; one that fails does not stop the others, and the exit code is then 2.`

func (t *tool) edits() []*cobra.Command {
	return []*cobra.Command{
		t.undo(),
		t.simple("restart", "Replace all pods of an Application", "Replace all pods, by the Application's strategy, as kubectl rollout restart does. After a rollback it refuses, because it would try again what failed.",
			"Replace the pods of the Application web", func() edit.Edit { return edit.Restart(t.now()) }),
		t.simple("pause", "Stop rollouts of an Application", "Stop rollouts (spec.paused). Everything else is still maintained.",
			"Let changes of the pods of web wait", func() edit.Edit { return edit.Pause }),
		t.simple("resume", "Let rollouts go on, and Fairlead enforce the children again",
			"Take back pause, observe and suspend: rollouts go on (spec.paused), and Fairlead enforces the children again (spec.reconcilePolicy).",
			"Go on with the Application web", func() edit.Edit { return edit.Resume }),
		t.simple("suspend", "Make Fairlead do nothing about an Application", "Make Fairlead do nothing about the Application (spec.reconcilePolicy: Suspend). Its condition Ready says so; the rest of its status shows the state before.",
			"Leave everything of web as it is", func() edit.Edit { return edit.Suspend }),
		t.simple("observe", "Make Fairlead only report differences of an Application",
			"Make Fairlead report how the children differ from the spec, and change none (spec.reconcilePolicy: Observe).",
			"Report differences of web, and repair none", func() edit.Edit { return edit.Observe }),
		t.scale(), t.set(),
	}
}

func (t *tool) scale() *cobra.Command {
	e := &editing{tool: t}
	var replicas, current int32
	cmd := &cobra.Command{
		Use:   "scale NAME... --replicas=COUNT [flags]",
		Short: "Set the number of pods of an Application",
		Long:  long("Set the number of pods (spec.replicas). An Application with autoscaling is left to its autoscaler.\n\n" + editsNote),
		Example: examples(`
			# Five pods
			kubectl fairlead scale web --replicas=5

			# Five pods, if there are three now
			kubectl fairlead scale web --replicas=5 --current-replicas=3

			# None for all Applications of the namespace
			kubectl fairlead scale --all --replicas=0`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if replicas < 0 && cmd.Flags().Changed("replicas") {
				return usageError(cmd.CommandPath(), "--replicas is %d, but must be 0 or more", replicas)
			}
			if replicas < 0 {
				return usageError(cmd.CommandPath(), "pass the number of pods with --replicas")
			}
			return e.run(cmd, args, fixed(edit.Scale(replicas, current)))
		},
	}
	cmd.Flags().Int32Var(&replicas, "replicas", -1, "The number of pods.")
	cmd.Flags().Int32Var(&current, "current-replicas", -1, "Scale only from this number.")
	e.addEditTo(cmd)
	return cmd
}

func (t *tool) undo() *cobra.Command {
	e := &editing{tool: t}
	var to int64
	cmd := &cobra.Command{
		Use:   "undo NAME... [flags]",
		Short: "Take the pods of an Application back to a former revision",
		Long: long(`
			Write what a former revision said about the pods into the spec, with what their class gave them then: image, command,
			variables and the like. The number of pods, routes and policies stay. A revision that spec.rollback.toRevision names
			is named no more. The content of ConfigMaps and Secrets is not kept, so it does not come back.

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
				return edit.Undo(target, loaded.Children, edit.GoesFurther(revisions, target, to)), err
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
