// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/tree"
)

func (t *tool) diff() *cobra.Command {
	var (
		from   platform
		out    output
		before []string
	)
	cmd := &cobra.Command{
		Use:   "diff -f FILE... [flags]",
		Short: "Show what files would change, and whether pods are replaced",
		Long: long(`
			Show what applying files would change, child by child and field by field, and whether pods are replaced and by which
			field. Each Application in the files is compared with the one in the cluster, or with the one in other files (--from).
			Where the cluster has the aggregated API and lets you, it computes that; otherwise the plugin does. Without --from and
			flags about the platform, diff asks the API server by a dry run whether it would accept each Application, if you may
			write it. It cannot ask that about an Application in a namespace that the files create, and says so.

			The exit code is 0 without a difference, 1 with one, and 2 if that could not be found out, as for kubectl diff.`),
		Example: examples(`
			# What would change in the cluster
			kubectl fairlead diff -f web.yaml

			# What a merge request changes, without a cluster
			git show main:web.yaml | kubectl fairlead diff -f web.yaml --from - --class-file=classes/`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from.ownFacts = cmd.Flags().Changed("security-profile") || cmd.Flags().Changed("route-controller-namespaces") || cmd.Flags().Changed("monitoring-namespaces")
			defer from.noteUnread(t, slices.Concat(from.files, before))
			differs, err := t.printDifferences(cmd.Context(), from, before, out)
			if err == nil && differs {
				err = errNo
			}
			return err
		},
	}
	out.addTo(cmd)
	from.addFiles(cmd)
	from.addClasses(cmd, true)
	from.addFacts(cmd)
	cmd.Flags().StringSliceVar(&before, "from", nil, "Compare with these files or directories instead of the cluster.")
	cmd.Flags().Lookup("recursive").Usage = "Process the directories used in -f, --filename and --from recursively."
	return cmd
}

// compared is what a difference is about.
type compared struct {
	// missing is the ConfigMap or Secret for which new pods wait; "" if they wait for none.
	missing string
	// refused is why another Application's routes keep the spec from being carried out; "" if they do not.
	refused string
	// unknown is what only the controller can find out, or the API server once the namespace exists; "" if that is nothing.
	unknown string
	// newNamespace means that the files create the namespace, so that the API server cannot be asked.
	newNamespace bool
	// deleting: no spec has an effect any more.
	deleting bool
}

// shownDifference is the difference of one Application for programs. Its JSON is stable: fields are added, never changed.
type shownDifference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	preview.Difference
	// Refused is why nothing of that is carried out before another Application gives its routes up. Waits is the ConfigMap or Secret for which
	// new pods wait.
	Refused *notCarriedOut `json:"refused,omitempty"`
	Waits   string         `json:"waits,omitempty"`
	// Unknown is what only the controller can find out, or the API server once the namespace exists.
	Unknown string `json:"unknown,omitempty"`
}

// notCarriedOut is why a spec is not carried out: the reason of the condition Ready, and its message.
type notCarriedOut struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// show is the difference for programs.
func (about compared) show(of filed, d preview.Difference) shownDifference {
	shown := shownDifference{Namespace: of.Namespace, Name: of.Name, Difference: d, Unknown: about.unknown}
	if about.refused != "" && d.Pods.Stopped == "" {
		shown.Refused = &notCarriedOut{v1.ReasonRouteConflict, about.refused}
	}
	if difference.StartsPods(d) {
		shown.Waits = about.missing
	}
	return shown
}

// printDifferences compares each Application of the files. One that cannot be compared does not stop the others.
func (t *tool) printDifferences(ctx context.Context, from platform, before []string, out output) (differs bool, err error) {
	if slices.Contains(from.files, "-") && slices.Contains(before, "-") {
		return false, errors.New("only one of -f and --from can be standard input: pass a file for the other")
	}
	applications, checker, err := from.applications(ctx, t, from.files)
	if err != nil {
		return false, err
	}
	var olds map[string]*v1.Application
	if len(before) > 0 {
		if olds, err = t.readBefore(ctx, from, before, applications); err != nil {
			return false, err
		}
	}
	shown := make([]shownDifference, 0, len(applications))
	failed := 0
	afterBlock := false // Blocks stand alone, lines together.
	for _, application := range applications {
		if len(applications) > 1 {
			t.warned.name(application.String())
		}
		var d preview.Difference
		var about compared
		if len(before) > 0 {
			d, err = t.compareFiles(ctx, from, checker, olds[application.String()], application.Application)
		} else {
			d, about, err = t.compare(ctx, from, checker, application)
		}
		if err != nil {
			if len(applications) == 1 || ctx.Err() != nil {
				return false, err
			}
			fmt.Fprintf(t.ErrOut, "error: %s: %s\n", application, explain(err))
			failed++
			continue
		}
		differs = differs || !d.Empty()
		shown = append(shown, about.show(application, d))
		if out.machine() {
			continue
		}
		if len(shown) > 1 && (afterBlock || !d.Empty()) {
			t.screen().Blank()
		}
		afterBlock = !d.Empty()
		if about.deleting {
			t.screen().Line(application.String() + ": nothing changes. " + isDeleting)
		} else {
			difference.Print(t.screen(), application.String(), d, about.missing, about.refused)
			switch {
			case about.newNamespace && about.unknown != "":
				t.screen().Blank()
				t.screen().Line(about.unknown)
			case about.unknown != "":
				t.screen().Hanging("    ", about.unknown)
			}
		}
	}
	if out.machine() {
		if err := encode(t.Out, out.format, shown, len(applications) > 1); err != nil {
			return false, err
		}
	}
	if failed > 0 {
		return false, fmt.Errorf("%d of %d Applications could not be compared", failed, len(applications))
	}
	return differs, nil
}

// classedAs is the Application with the class of another one.
func classedAs(around, application *v1.Application) *v1.Application {
	classed := around.DeepCopy()
	classed.Spec.ClassName = application.Spec.ClassName
	return classed
}

// compare computes what the file would change in the cluster.
func (t *tool) compare(ctx context.Context, from platform, checker *manifest.Checker, of filed) (d preview.Difference, about compared, err error) {
	clients, err := t.clients()
	if err != nil {
		return d, about, err
	}
	application := of.Application
	live, err := clients.Fairlead.AppsV1().Applications(application.Namespace).Get(ctx, application.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		live = nil
		if about.newNamespace, err = createsNamespace(ctx, clients, of); err != nil {
			return d, about, err
		}
		if about.newNamespace && from.asksCluster() {
			about.unknown = fmt.Sprintf("Namespace %s does not exist yet; the files create it. Until then, the API server cannot be asked whether it would "+
				"accept the Application, so its policies, its quotas and the routes of other Applications were not checked: to have them checked, "+
				"apply the Namespace first.", application.Namespace)
		}
	case err != nil:
		return d, about, err
	case live.DeletionTimestamp != nil:
		about.deleting = true
		return d, about, nil
	default:
		if application, err = of.document.Applied(live); err != nil {
			return d, about, err
		}
		about.missing, about.refused = missingConfig(live, application), routeConflict(live, application)
		if about.missing != "" && changesNothing(live, application) {
			return d, about, nil // Compared with what runs, an earlier edit that waits would look like one of this file.
		}
	}
	if d, err = t.compareLive(ctx, clients, from, checker, live, application, about.newNamespace); err == nil {
		err = leaveOutUnserved(ctx, clients, &d)
	}
	if err == nil && live != nil {
		about.unknown, err = t.followContents(ctx, clients, live, application, &d)
		about.unknown = strings.TrimSpace(about.unknown)
	}
	if err == nil && live != nil && d.Pods.Stopped != "" {
		var pods int32
		d.Pods.Unfinished, pods, _, err = unfinishedRollout(ctx, clients, live)
		d.Pods.Live = max(d.Pods.Live, pods) // Those that nobody listed.
	}
	return d, about, err
}

// changesNothing reports whether an applied Application equals the one in the cluster.
func changesNothing(live, applied *v1.Application) bool {
	return equality.Semantic.DeepEqual(live.Spec, applied.Spec) && maps.Equal(live.Labels, applied.Labels) && maps.Equal(live.Annotations, applied.Annotations)
}

// createsNamespace reports whether the files create the namespace of an Application before it. A user without permission to read namespaces
// creates none.
func createsNamespace(ctx context.Context, clients *cluster.Clients, of filed) (bool, error) {
	if !of.afterNamespace {
		return false, nil
	}
	_, err := clients.Kube.CoreV1().Namespaces().Get(ctx, of.Namespace, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case apierrors.IsForbidden(err):
		return false, nil
	}
	return false, err
}

// compareLive computes what an Application would change in the cluster. live is nil if there is none yet.
func (t *tool) compareLive(
	ctx context.Context, clients *cluster.Clients, from platform, checker *manifest.Checker, live, application *v1.Application, newNamespace bool,
) (preview.Difference, error) {
	asksCluster := from.asksCluster() && !newNamespace
	if asksCluster {
		d, served, err := t.served(ctx, live, application)
		if err != nil {
			return d, err
		}
		if served {
			// A server of an earlier version does not look for objects of others. Where there are some, the plugin computes the difference.
			others := &cluster.Loaded{Objects: tree.Objects{Application: application}, Unreadable: map[string]error{}}
			if found, err := loadForeign(ctx, clients, others, d); err != nil {
				return d, err
			} else if !found {
				return d, t.accepted(ctx, clients, live, application, d)
			}
		}
	}
	around := live
	if live == nil {
		around = &v1.Application{ObjectMeta: application.ObjectMeta}
	}
	platform, err := from.platformOf(ctx, t, classedAs(around, application), checker)
	if err != nil {
		return preview.Difference{}, err
	}
	loaded, err := clients.Load(ctx, around)
	if err != nil {
		return preview.Difference{}, err
	}
	d, err := t.liveDifference(live, application, loaded, platform)
	if err == nil {
		var found bool
		if found, err = loadForeign(ctx, clients, loaded, d); err == nil && found {
			d, err = t.liveDifference(live, application, loaded, platform)
		}
	}
	if err == nil && asksCluster {
		err = t.accepted(ctx, clients, live, application, d)
	}
	return d, err
}

// accepted is accepted without the warnings about a pause that the difference says too, or contradicts.
func (t *tool) accepted(ctx context.Context, clients *cluster.Clients, live, application *v1.Application, d preview.Difference) error {
	t.warned.forget()
	switch {
	case difference.Waits(d):
		t.warned.mute(pausedWarning, halfwayWarning, filesWarning)
	case difference.TakesBack(d):
		t.warned.mute(pausedWarning, halfwayWarning)
	}
	return accepted(ctx, clients, live, application)
}

// loadForeign reads objects that have the names of children to create, and reports whether there are any. They lack the Application's
// label, so nothing else reads them before status names them.
func loadForeign(ctx context.Context, clients *cluster.Clients, loaded *cluster.Loaded, d preview.Difference) (found bool, err error) {
	for _, c := range d.Children {
		kind, known := child.KindNamed(c.Kind)
		if !known || c.Action != preview.Create {
			continue
		}
		exists, err := clients.LoadChild(ctx, loaded, child.Ref{Kind: kind, Namespace: loaded.Application.Namespace, Name: c.Name})
		if err != nil {
			return false, err
		}
		found = found || exists
	}
	return found, nil
}

// liveDifference is the difference beside what runs.
func (t *tool) liveDifference(old, application *v1.Application, loaded *cluster.Loaded, platform preview.Platform) (preview.Difference, error) {
	after, d, err := t.difference(old, application, loaded.Snapshot(), platform)
	d.Pods.LiveUnknown = loaded.Unreadable[child.Deployment.Resource] != nil
	d.Pods.Unlisted = d.Pods.LiveUnknown && old != nil
	switch {
	case err != nil:
	case d.Pods.Replaced:
		err = t.besidePods(&d.Pods, after.Children, loaded)
	case d.Pods.Held > 0:
		d.Pods.Because, err = difference.Held(loaded)
	}
	return d, err
}

// besidePods compares a template that replaces pods with those of the ReplicaSets.
func (t *tool) besidePods(pods *preview.Pods, rendered []child.Desired, loaded *cluster.Loaded) (err error) {
	if pods.Kept, err = difference.Kept(t.differ, rendered, loaded); err == nil && pods.Kept == 0 {
		pods.Kept, err = difference.KeptFormer(pods.Because, loaded)
	}
	if err == nil && pods.Paused {
		pods.Because, err = difference.FromPods(pods.Because, loaded)
	}
	return err
}

// difference renders both and compares.
func (t *tool) difference(old, application *v1.Application, live child.Snapshot, platform preview.Platform) (preview.Rendering, preview.Difference, error) {
	after, d, err := preview.Of(t.differ, old, application, live, platform, t.now())
	if err == nil && len(after.Invalid) > 0 {
		err = refused(after.Reason, after.Invalid)
	}
	return after, d, err
}
