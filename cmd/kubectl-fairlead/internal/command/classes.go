// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/util/completion"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/classes"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func (t *tool) classes() *cobra.Command {
	var (
		out      output
		watch    watching
		selector string
	)
	cmd := &cobra.Command{
		Use:   "classes [NAME...] [flags]",
		Short: "Show what the ApplicationClasses impose, and which Applications use them",
		Long: long(`
			Show the ApplicationClasses of the cluster: which namespaces they select, the defaults and limits that they impose, and
			which Applications use them, with the reason of those that are not ready, as far as you may list Applications.`),
		Example: examples(`
			# All classes
			kubectl fairlead classes

			# One of them, for a program
			kubectl fairlead classes standard -o json`),
		ValidArgsFunction: completion.ResourceNameCompletionFunc(t.factory, "applicationclasses.apps.fairlead.dev"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && selector != "" {
				return usageError(cmd.CommandPath(), "give names, or -l, but not both")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return watch.redraw(cmd.Context(), t, func(ctx context.Context, to *screen.Screen) error {
				found, err := t.readClasses(ctx, selector, args)
				if err != nil {
					return err
				}
				return printClasses(to, out, found, len(args) != 1)
			})
		},
	}
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "Select classes by their labels, for example tier=gold.")
	out.addTo(cmd, formatName)
	watch.addTo(cmd, &out, "Print it again whenever it changes.")
	return cmd
}

func printClasses(to *screen.Screen, out output, found []classes.Class, list bool) error {
	switch {
	case out.machine():
		return encode(to.Writer(), out.format, found, list)
	case out.format == formatName:
		for _, class := range found {
			to.Line(resourceName(v1.GroupName, v1.ApplicationClassKind, class.Name))
		}
	default:
		classes.Print(to, found)
	}
	return nil
}

func (t *tool) readClasses(ctx context.Context, selector string, names []string) ([]classes.Class, error) {
	clients, err := t.clients()
	if err != nil {
		return nil, err
	}
	list, err := clients.Fairlead.AppsV1().ApplicationClasses().List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	if selector != "" && len(list.Items) == 0 {
		return nil, errors.New("no ApplicationClass matches: see 'kubectl fairlead classes'")
	}
	users, err := clients.Fairlead.AppsV1().Applications(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err == nil {
		return classes.Of(list.Items, users.Items, names)
	}
	fmt.Fprintf(t.ErrOut, "Which Applications use a class is not shown: %s\n", err)
	found, err := classes.Of(list.Items, nil, names)
	classes.Unlisted(list.Items, found)
	return found, err
}
