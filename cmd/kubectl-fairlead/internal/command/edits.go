// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree"
)

// simple is an edit without arguments but the names.
func (t *tool) simple(name, short, about, example string, edits change) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args, edits) },
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
			"Replace the pods of the Application web", t.restart),
		t.simple("pause", "Stop rollouts of an Application", "Stop rollouts (spec.paused). Everything else is still maintained: running pods see new files of spec.config.",
			"Let changes of the pods of web wait", t.pause),
		t.simple("resume", "Let rollouts go on, and Fairlead enforce the children again",
			"Take back pause, observe and suspend: rollouts go on (spec.paused), and Fairlead enforces the children again (spec.reconcilePolicy).",
			"Go on with the Application web", fixed(edit.Resume)),
		t.simple("suspend", "Make Fairlead do nothing about an Application", "Make Fairlead do nothing about the Application (spec.reconcilePolicy: Suspend). Its condition Ready says so; the rest of its status shows the state before.",
			"Leave everything of web as it is", fixed(edit.Suspend)),
		t.simple("observe", "Make Fairlead only report differences of an Application",
			"Make Fairlead report how the children differ from the spec, and change none (spec.reconcilePolicy: Observe).",
			"Report differences of web, and repair none", fixed(edit.Observe)),
		t.scale(), t.set(),
	}
}

// pause looks for a rollout that has begun where the spec does not stop it.
func (t *tool) pause(ctx context.Context, clients *cluster.Clients, application *v1.Application) (edit.Edit, error) {
	var unfinished int32
	if edit.NotCarriedOut(application) != "" {
		var err error
		if unfinished, _, _, err = unfinishedRollout(ctx, clients, application); err != nil {
			return nil, err
		}
	}
	return edit.Pause(unfinished), nil
}

// restart looks for the Deployment where the advice is to restart that one.
func (t *tool) restart(ctx context.Context, clients *cluster.Clients, application *v1.Application) (edit.Edit, error) {
	deployed := true
	if application.IsRolledBack() {
		_, err := clients.Kube.AppsV1().Deployments(application.Namespace).Get(ctx, application.Name, metav1.GetOptions{})
		deployed = !apierrors.IsNotFound(err)
	}
	return edit.Restart(t.now(), deployed), nil
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
			return e.run(cmd, args, func(ctx context.Context, clients *cluster.Clients, application *v1.Application) (edit.Edit, error) {
				made := edit.Scale(replicas, current)
				if _, _, err := edit.Apply(application, made); err == nil && replicas > 0 { // At 0, an autoscaler does nothing.
					for _, warning := range rivalScalers(ctx, clients, application) {
						fmt.Fprintln(t.ErrOut, "Warning: "+warning)
					}
				}
				return made, nil
			})
		},
	}
	cmd.Flags().Int32Var(&replicas, "replicas", -1, "The number of pods.")
	cmd.Flags().Int32Var(&current, "current-replicas", -1, "Scale only from this number.")
	e.addEditTo(cmd)
	return cmd
}

// rivalScalers warns of the HorizontalPodAutoscalers of other clients, which set the number of pods too, of the Deployment or in the spec. The edit does not need to know
// them, so it goes on if they cannot be listed.
func rivalScalers(ctx context.Context, clients *cluster.Clients, application *v1.Application) []string {
	loaded := &cluster.Loaded{Objects: tree.Objects{Application: application}, Unreadable: map[string]error{}}
	if err := clients.LoadScalers(ctx, loaded); err != nil {
		return nil
	}
	var warnings []string
	for _, name := range loaded.Scalers {
		warnings = append(warnings, fmt.Sprintf("%s/%s: HorizontalPodAutoscaler %s sets the number of pods too, and the two will fight: "+
			"remove spec.replicas and change its minReplicas and maxReplicas instead, or delete it", application.Namespace, application.Name, name))
	}
	for _, name := range loaded.SpecScalers {
		warnings = append(warnings, fmt.Sprintf("%s/%s: HorizontalPodAutoscaler %s scales this Application: it sets spec.replicas again as its metrics ask: "+
			"change its minReplicas and maxReplicas instead, or delete it", application.Namespace, application.Name, name))
	}
	return warnings
}
