// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

func (t *tool) diff() *cobra.Command {
	var (
		from   platform
		out    output
		before []string
	)
	cmd := &cobra.Command{
		Use:   "diff -f FILE [flags]",
		Short: "Show what a file would change, and whether pods are replaced",
		Long: long(`
			Show what applying a file would change, child by child and field by field, and whether pods are replaced and by which
			field. The file is compared with the Application in the cluster, or with another file (--from). Where the cluster has
			the aggregated API and lets you, it computes that; otherwise the plugin does. Without --from and flags about the
			platform, diff asks the API server by a dry run whether it would accept the Application, if you may write it.

			The exit code is 0 without a difference, 1 with one, and 2 if that could not be found out, as for kubectl diff.`),
		Example: examples(`
			# What would change in the cluster
			kubectl fairlead diff -f web.yaml

			# What a merge request changes, without a cluster
			git show main:web.yaml | kubectl fairlead diff -f web.yaml --from - --class-file=classes/`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from.ownFacts = cmd.Flags().Changed("security-profile") || cmd.Flags().Changed("route-controller-namespaces") || cmd.Flags().Changed("monitoring-namespaces")
			d, about, err := t.compare(cmd.Context(), from, before)
			if err != nil {
				return err
			}
			switch {
			case out.machine():
				err = encode(t.Out, out.format, []preview.Difference{d}, false)
			case about.deleting:
				t.screen().Line(about.name + ": nothing changes. " + isDeleting)
			default:
				difference.Print(t.screen(), about.name, d, about.missing)
			}
			if err == nil && !d.Empty() {
				err = errNo
			}
			return err
		},
	}
	out.addTo(cmd)
	from.addFiles(cmd)
	from.addClasses(cmd)
	from.addFacts(cmd)
	cmd.Flags().StringSliceVar(&before, "from", nil, "Compare with this file instead of the cluster.")
	return cmd
}

// compared is what a difference is about.
type compared struct {
	name string
	// missing is the ConfigMap or Secret for which new pods wait; "" if they wait for none.
	missing string
	// deleting: no spec has an effect any more.
	deleting bool
}

// compare computes what the file would change.
func (t *tool) compare(ctx context.Context, from platform, before []string) (d preview.Difference, about compared, err error) {
	if slices.Contains(from.files, "-") && slices.Contains(before, "-") {
		return d, about, errors.New("only one of -f and --from can be standard input: pass a file for the other")
	}
	application, document, checker, err := from.application(ctx, t, from.files)
	if err != nil {
		return d, about, err
	}
	about.name = application.Namespace + "/" + application.Name
	var clients *cluster.Clients
	var live *v1.Application // nil if there is none
	if len(before) == 0 {
		if clients, err = t.clients(); err != nil {
			return d, about, err
		}
		live, err = clients.Fairlead.AppsV1().Applications(application.Namespace).Get(ctx, application.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			live = nil
		case err != nil:
			return d, about, err
		case live.DeletionTimestamp != nil:
			about.deleting = true
			return d, about, nil
		default:
			if application, err = document.Applied(live); err != nil {
				return d, about, err
			}
			about.missing = missingConfig(live, application)
		}
	}
	asksCluster := len(before) == 0 && len(from.classFiles) == 0 && !from.ownFacts
	if asksCluster {
		d, served, err := t.served(ctx, live, application)
		if served && err == nil {
			err = accepted(ctx, clients, live, application)
		}
		if served || err != nil {
			return d, about, err
		}
	}
	around := live
	if live == nil {
		around = &v1.Application{ObjectMeta: application.ObjectMeta}
	}
	classed := around.DeepCopy()
	classed.Spec.ClassName = application.Spec.ClassName
	platform, err := from.platformOf(ctx, t, classed, checker)
	if err != nil {
		return d, about, err
	}
	if len(before) > 0 {
		old, _, _, err := from.application(ctx, t, before)
		if err != nil {
			return d, about, err
		}
		if old.Name != application.Name {
			return d, about, fmt.Errorf("the files are about two Applications, %s and %s: compare two versions of one", old.Name, application.Name)
		}
		_, d, err = t.difference(old, application, child.Snapshot{Application: old}, platform)
		d.Pods.LiveUnknown = true
		return d, about, err
	}
	loaded, err := clients.Load(ctx, around)
	if err != nil {
		return d, about, err
	}
	if d, err = t.liveDifference(live, application, loaded, platform); err == nil && asksCluster {
		err = accepted(ctx, clients, live, application)
	}
	return d, about, err
}

// liveDifference is the difference beside what runs.
func (t *tool) liveDifference(old, application *v1.Application, loaded *cluster.Loaded, platform preview.Platform) (preview.Difference, error) {
	after, d, err := t.difference(old, application, loaded.Snapshot(), platform)
	d.Pods.LiveUnknown = loaded.Unreadable[child.Deployment.Resource] != nil
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
	if pods.Kept, err = difference.Kept(t.differ, rendered, loaded); err == nil && pods.Paused {
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
