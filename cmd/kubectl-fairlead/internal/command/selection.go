// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

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

// nameOf returns the name of an Application as the user gave it: alone, or with the kind, as kubectl takes and prints it.
func nameOf(arg string) (string, error) {
	kind, name, found := strings.Cut(arg, "/")
	if !found {
		return arg, nil
	}
	singular := strings.ToLower(v1.ApplicationKind)
	switch strings.TrimSuffix(strings.ToLower(kind), "."+v1.GroupName) {
	case v1.ApplicationResource, singular, "fla":
		if name != "" && !strings.Contains(name, "/") {
			return name, nil
		}
	}
	return "", fmt.Errorf("%q is not the name of an Application: write its name alone, such as web", arg)
}

// commandLine is a command of the plugin that the user can copy. It has the namespace where the command would not find it otherwise.
func (t *tool) commandLine(namespace, command string) string {
	if !t.mustName(namespace) {
		return pluginCommand + command
	}
	return pluginCommand + "-n " + namespace + " " + command
}

// pluginCommand begins each command of the plugin.
const pluginCommand = "kubectl fairlead "

// mustName reports whether a command needs -n for the namespace: it is not the one of the kubeconfig.
func (t *tool) mustName(namespace string) bool {
	current, given, err := t.factory.ToRawKubeConfigLoader().Namespace()
	return err != nil || given || current != namespace
}

// namespaced are the commands in the advice of why that are about objects of a namespace.
var namespaced = regexp.MustCompile(`\bkubectl (fairlead (?:adopt|history|logs|observe|resume|set|tree|top|undo|why)|delete|describe resourcequotas|edit|events|patch|rollout|get persistentvolumeclaims)\b`)

// withNamespace makes commands that the user can copy of those in the text.
func (t *tool) withNamespace(namespace, text string) string {
	if !t.mustName(namespace) {
		return text
	}
	return namespaced.ReplaceAllStringFunc(text, func(command string) string {
		words := strings.TrimPrefix(command, "kubectl ")
		if plugin, own := strings.CutPrefix(words, "fairlead "); own {
			return t.commandLine(namespace, plugin)
		}
		return "kubectl -n " + namespace + " " + words
	})
}

// deploymentName is nameOf for the name of a Deployment.
func deploymentName(arg string) (string, error) {
	kind, name, found := strings.Cut(arg, "/")
	if found && slices.Contains([]string{"deploy", "deployment", "deployments"}, strings.TrimSuffix(kind, ".apps")) {
		arg = name
	}
	return nameOf(arg)
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
		name, err := nameOf(name)
		if err != nil {
			return nil, err
		}
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
