// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/util/completion"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/classes"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func (t *tool) classes() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "classes [NAME...] [flags]",
		Short: "Show what the ApplicationClasses impose, and which Applications use them",
		Long: long(`
			Show the ApplicationClasses of the cluster: which namespaces they select, the defaults and limits that they impose, and
			which Applications use them, as far as you may list those.`),
		Example: examples(`
			# All classes
			kubectl fairlead classes

			# One of them, for a program
			kubectl fairlead classes standard -o json`),
		ValidArgsFunction: completion.ResourceNameCompletionFunc(t.factory, "applicationclasses.apps.fairlead.dev"),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := t.readClasses(cmd.Context(), args)
			if err != nil {
				return err
			}
			if out.machine() {
				return encode(t.Out, out.format, found, len(args) != 1)
			}
			classes.Print(t.screen(), found)
			return nil
		},
	}
	out.addTo(cmd)
	return cmd
}

func (t *tool) readClasses(ctx context.Context, names []string) ([]classes.Class, error) {
	clients, err := t.clients()
	if err != nil {
		return nil, err
	}
	list, err := clients.Fairlead.AppsV1().ApplicationClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var applications []v1.Application
	users, err := clients.Fairlead.AppsV1().Applications(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err == nil {
		applications = users.Items
	} else {
		fmt.Fprintf(t.ErrOut, "Which Applications use a class is not shown: %s\n", err)
	}
	return classes.Of(list.Items, applications, names)
}
