// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
)

// fieldManager owns the fields that the edits write.
const fieldManager = plan.PluginFieldManager

// editing has the flags and the steps of all edits.
type editing struct {
	tool   *tool
	chosen selection
	// dryRun is none, client or server.
	dryRun cmdutil.DryRunStrategy
	out    output
	from   platform
	// needsAll is set for an edit that is not made if a name does not exist, since it may be no name. It is what to do then.
	needsAll string
	// unchanged says why nothing changes, if that is not plain. It begins with a colon. Nil: it always is.
	unchanged func(*v1.Application) string
}

// addEditTo adds the flags of an edit: which Applications, and what to print.
func (e *editing) addEditTo(cmd *cobra.Command) {
	e.chosen.edits = true
	e.chosen.addTo(cmd)
	e.out.addTo(cmd, formatName)
	e.addTo(cmd)
}

func (e *editing) addTo(cmd *cobra.Command) {
	cmdutil.AddDryRunFlag(cmd)
	cmd.Flags().Lookup("dry-run").Usage = `"none", "client" (say what would change), or "server" (let the API server and its webhooks check it too).`
	cmd.Flags().StringVar(&e.from.profile, "security-profile", "restricted", "The controller's --security-profile, for the summary.")
	e.from.addFacts(cmd)
	e.from.addClasses(cmd, true)
	hide(cmd, "class-file", "security-profile", "route-controller-namespaces", "monitoring-namespaces")
	cmd.ValidArgsFunction = e.tool.completeNames()
}

// change makes the edit of an Application, which may need what was read around it.
type change func(ctx context.Context, clients *cluster.Clients, application *v1.Application) (edit.Edit, error)

// fixed is an edit that needs nothing.
func fixed(made edit.Edit) change {
	return func(context.Context, *cluster.Clients, *v1.Application) (edit.Edit, error) { return made, nil }
}

// run edits the Applications, one after the other. It goes on after one that fails, as kubectl does, and ends with a count.
func (e *editing) run(cmd *cobra.Command, names []string, edits change) error {
	var err error
	if e.dryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return err
	}
	clients, err := e.tool.clients()
	if err != nil {
		return err
	}
	applications, missing, err := e.chosen.readFound(cmd.Context(), e.tool, clients, names)
	if err != nil {
		return err
	}
	all := len(applications) + len(missing)
	if len(applications) == 0 && all == 1 {
		return missing[0]
	}
	to := e.tool.screen()
	if e.out.format != "" {
		to = to.Into(io.Discard)
	}
	count := tally{failed: len(missing)}
	for _, err := range missing {
		fmt.Fprintf(e.tool.ErrOut, "error: %s\n", explain(err))
	}
	if len(missing) > 0 && e.needsAll != "" {
		return fmt.Errorf("nothing was written, because %d of %d names cannot be read. %s", len(missing), all, e.needsAll)
	}
	var edited []*v1.Application
	for _, application := range applications {
		if all > 1 {
			e.tool.warned.name(application.Namespace + "/" + application.Name) // What the API server warns of precedes the lines of the edit.
		}
		done, err := e.one(cmd.Context(), clients, to, application, edits)
		if err != nil {
			err = fmt.Errorf("%s/%s: %w", application.Namespace, application.Name, err)
			if all == 1 || cmd.Context().Err() != nil {
				return err
			}
			fmt.Fprintf(e.tool.ErrOut, "error: %s\n", explain(err))
			count.failed++
			continue
		}
		if done == application {
			count.unchanged++
		} else {
			count.edited++
		}
		edited = append(edited, done)
	}
	if err := printApplications(e.tool.Out, e.out, edited, e.chosen.many(names)); err != nil {
		return err
	}
	if e.chosen.many(names) {
		to.Line(count.describe(e.dryRun != cmdutil.DryRunNone))
	}
	if count.failed > 0 {
		return fmt.Errorf("%d of %d Applications were not edited", count.failed, all)
	}
	return nil
}

// tally counts what became of many edits.
type tally struct{ edited, unchanged, failed int }

func (c tally) describe(dryRun bool) string {
	edited := "edited"
	if dryRun {
		edited = "to edit"
	}
	return fmt.Sprintf("%d %s, %d unchanged, %d failed", c.edited, edited, c.unchanged, c.failed)
}

// one makes one edit, and returns the Application after it; the very one that it got if nothing changes.
func (e *editing) one(ctx context.Context, clients *cluster.Clients, to *screen.Screen, application *v1.Application, edits change) (*v1.Application, error) {
	made, err := edits(ctx, clients, application)
	if err != nil {
		return nil, err
	}
	return e.edit(ctx, clients, to, application, made)
}

// edit writes what the edit makes of the Application, and then says what that was.
func (e *editing) edit(ctx context.Context, clients *cluster.Clients, to *screen.Screen, application *v1.Application, made edit.Edit) (*v1.Application, error) {
	name := application.Namespace + "/" + application.Name
	edited, what, err := edit.Apply(application, made)
	if err != nil {
		return nil, errors.New(e.tool.withNamespace(application.Namespace, err.Error()))
	}
	patch, err := edit.Patch(application, edited)
	if err != nil {
		return nil, err
	}
	if patch == nil {
		why := ""
		if e.unchanged != nil {
			why = e.unchanged(application)
		}
		to.Line(name + ": unchanged" + why)
		return application, nil
	}
	var (
		unknown error
		effect  effect
	)
	if e.out.format == "" {
		effect, unknown = e.summary(ctx, clients, application, edited)
	}
	say := func(done string) {
		printEdit(to, name, e.tool.withNamespace(application.Namespace, what), effect.summary)
		e.noteUnknown(to, unknown)
		to.Line(done)
	}
	if e.dryRun == cmdutil.DryRunClient {
		say("  not written (dry run)")
		return edited, nil
	}
	options := metav1.PatchOptions{FieldManager: fieldManager}
	done := "  written"
	if e.dryRun == cmdutil.DryRunServer {
		options.DryRun, done = []string{metav1.DryRunAll}, "  not written (server dry run)"
	}
	e.tool.warned.forget()
	if effect.takesBack {
		e.tool.warned.mute(pausedWarning, halfwayWarning)
	}
	written, err := write(ctx, clients, application, edited, options)
	if err != nil {
		return nil, err
	}
	say(done) // Not before the write, which the API server may refuse.
	if said := storedClass(edited, written, e.dryRun == cmdutil.DryRunServer); said != "" {
		to.Hanging("  ", said)
	}
	return written, nil
}

// storedClass says that the mutating webhook stored the default class beside what was edited. It does so in an Application from before the
// class was the default, and not with an edit of a switch alone, such as pause.
func storedClass(edited, written *v1.Application, dryRun bool) string {
	if edited.Spec.ClassName != "" || written.Spec.ClassName == "" {
		return ""
	}
	stored, stays := "also stored", "stays"
	if dryRun {
		stored, stays = "would also store", "would stay"
	}
	return fmt.Sprintf("The edit %s the default class %s in spec.className: it %s when another class becomes the default.", stored, written.Spec.ClassName, stays)
}

// pausedWarning begins the warning that a change of the pods has no effect before the pause ends. It would contradict the summary of a change
// that takes back what waits.
const pausedWarning = "spec.paused: the pods stay as they are"

// halfwayWarning begins the warning that Kubernetes may stop the pods of a rollout that the pause has stopped half-way. The summary knows it.
const halfwayWarning = "spec.paused: no pod starts for this change"

// filesWarning begins the warning that the files of the pods do not wait for the end of the pause.
const filesWarning = "spec.paused: the rollout waits"

// noteUnknown says why there is no summary. It does not repeat what the API server has warned of.
func (e *editing) noteUnknown(to *screen.Screen, unknown error) {
	if unknown == nil {
		return
	}
	if spec := (*refusedError)(nil); errors.As(unknown, &spec) && len(spec.errs) > 0 && e.tool.warned.has(spec.errs[0].Error()) {
		to.Hanging("  ", refusedEffect(spec)+".")
		return
	}
	fmt.Fprintln(e.tool.ErrOut, unknownEffect(unknown))
}

// unknownEffect says why there is no summary.
func unknownEffect(err error) string {
	if spec := (*refusedError)(nil); errors.As(err, &spec) {
		return fmt.Sprintf("%s: %s", refusedEffect(spec), spec.errs.ToAggregate())
	}
	const unknown = "The effect on the pods is not known: "
	if denied := (*classesForbiddenError)(nil); errors.As(err, &denied) {
		return unknown + denied.ask() + ". The edit does not need that."
	}
	return unknown + explain(err)
}

// refusedEffect is the effect of a spec that is refused, whether it is stored or not.
func refusedEffect(spec *refusedError) string {
	return "The edit replaces no pod, because such a spec is not carried out (" + spec.reason + ")"
}

// printEdit says what an edit does, and what becomes of the pods, if that is known.
func printEdit(to *screen.Screen, name, what, summary string) {
	to.Line(name + ": " + what)
	if summary != "" {
		to.Hanging("  ", summary)
	}
}

// errChanged is returned if another client was faster.
var errChanged = errors.New("the Application changed meanwhile, so nothing was written: run the command again")

// write sends the patch. The API server refuses it if the Application changed since it was read. If only its status
// changed, which does not change the generation, write sends it again.
func write(ctx context.Context, clients *cluster.Clients, before, after *v1.Application, options metav1.PatchOptions) (written *v1.Application, err error) {
	client := clients.Fairlead.AppsV1().Applications(before.Namespace)
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		patch, err := edit.Patch(before, after)
		if err != nil {
			return err
		}
		var refused error
		written, refused = client.Patch(ctx, before.Name, types.MergePatchType, patch, options)
		if !apierrors.IsConflict(refused) {
			return refused
		}
		now, err := client.Get(ctx, before.Name, metav1.GetOptions{})
		switch {
		case err != nil:
			return err
		case now.UID != before.UID || now.Generation != before.Generation:
			return errChanged
		}
		before = before.DeepCopy()
		before.ResourceVersion = now.ResourceVersion
		return refused
	})
	if apierrors.IsConflict(err) {
		return nil, errChanged
	}
	return written, err
}

// platform asks the cluster for its classes and for the namespace.
func (e *editing) platform(ctx context.Context, application *v1.Application) (preview.Platform, error) {
	checker, err := e.from.checker()
	if err != nil {
		return preview.Platform{}, err
	}
	return e.from.platformOf(ctx, e.tool, application, checker)
}

// revisionOf is the number of the revision that the spec asks for; 0 if the spec is refused.
func (e *editing) revisionOf(ctx context.Context, application *v1.Application, loaded *cluster.Loaded) (int64, error) {
	platform, err := e.platform(ctx, application)
	if err != nil {
		return 0, err
	}
	unpinned := application.DeepCopy()
	if unpinned.Spec.Rollback != nil {
		unpinned.Spec.Rollback.ToRevision = nil // That is no revision of what the spec says about the pods.
	}
	rendering, err := preview.Render(unpinned, loaded.Snapshot(), platform, e.tool.now())
	return rendering.Revision, err
}
