// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// selection are the Applications that a command is about: by name, by label, or all.
type selection struct {
	selector      string
	allNamespaces bool
	allowNone     bool
}

// errNoNames is returned if a command names no Application.
var errNoNames = errors.New("name an Application, or select some with -l or -A")

func (s *selection) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.selector, "selector", "l", "", "Select Applications by their labels, for example team=shop.")
	cmd.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "Select the Applications of all namespaces.")
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0 && (s.selector != "" || s.allNamespaces):
			return usageError(cmd.CommandPath(), "give names, or -l or -A, but not both")
		case len(args) == 0 && s.selector == "" && !s.allNamespaces:
			return usageError(cmd.CommandPath(), "%s", errNoNames)
		case check == nil:
			return nil
		default:
			return check(cmd, args)
		}
	}
}

// many reports whether the user asked for any number of Applications.
func (s *selection) many(args []string) bool { return len(args) != 1 }

// read returns the Applications, by name or in the order of the list.
func (s *selection) read(ctx context.Context, t *tool, clients *cluster.Clients, args []string) ([]*v1.Application, error) {
	namespace, _, err := t.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	var applications []*v1.Application
	for _, name := range args {
		application, err := clients.Fairlead.AppsV1().Applications(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		applications = append(applications, application)
	}
	if len(args) > 0 {
		return applications, nil
	}
	if s.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	list, err := clients.Fairlead.AppsV1().Applications(namespace).List(ctx, metav1.ListOptions{LabelSelector: s.selector})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		applications = append(applications, &list.Items[i])
	}
	if len(applications) == 0 && !s.allowNone {
		return nil, fmt.Errorf("no Application matches in %s", scope(namespace))
	}
	return applications, nil
}

func scope(namespace string) string {
	if namespace == metav1.NamespaceAll {
		return "any namespace"
	}
	return "namespace " + namespace
}
