// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/usage"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// errNoMetrics is met where no metrics-server runs.
var errNoMetrics = errors.New("this cluster serves no metrics: install metrics-server")

func (t *tool) top() *cobra.Command {
	var (
		chosen    selection
		out       output
		watch     watching
		noHeaders bool
	)
	cmd := &cobra.Command{
		Use:   "top NAME... [flags]",
		Short: "Show what the pods of Applications use of what they ask for",
		Long: long(`
			Show the CPU and memory that the running pods of Applications use, beside what they request; the one that uses the
			largest share first. The cluster must serve metrics.`),
		Example: examples(`
			# The Application web
			kubectl fairlead top web

			# All Applications of the cluster
			kubectl fairlead top -A`),
		ValidArgsFunction: t.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return watch.redraw(cmd.Context(), t, func(ctx context.Context, to *screen.Screen) error {
				list, missing, err := t.usage(ctx, &chosen, args)
				if err != nil {
					return err
				}
				if out.machine() {
					err = encode(to.Writer(), out.format, list, chosen.many(args))
				} else {
					err = usage.Print(to.Writer(), list, noHeaders)
				}
				if err != nil {
					return err
				}
				return missing
			})
		},
	}
	out.addTo(cmd)
	chosen.addTo(cmd)
	watch.addTo(cmd, &out, "Print it again whenever it changes.")
	addNoHeaders(cmd, &noHeaders)
	return cmd
}

func (t *tool) usage(ctx context.Context, chosen *selection, names []string) (used []usage.Usage, missing, err error) {
	clients, err := t.clients()
	if err != nil {
		return nil, nil, err
	}
	applications, missing, err := chosen.readShown(ctx, t, clients, names)
	if err != nil {
		return nil, nil, err
	}
	client, err := metrics.NewForConfig(clients.Config)
	if err != nil {
		return nil, nil, err
	}
	namespace := applications[0].Namespace
	if chosen.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	options := metav1.ListOptions{LabelSelector: v1.LabelApplication}
	pods, err := clients.Kube.CoreV1().Pods(namespace).List(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	measured, err := client.MetricsV1beta1().PodMetricses(namespace).List(ctx, options)
	if apierrors.IsNotFound(err) {
		return nil, nil, fmt.Errorf("%w: %w", errNoMetrics, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return usage.Of(applications, pods.Items, measured.Items), missing, nil
}
