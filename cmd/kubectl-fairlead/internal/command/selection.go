// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podsecurity "k8s.io/pod-security-admission/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/nearest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// selection are the Applications that a command is about: by name, by label, or all.
type selection struct {
	selector           string
	all, allNamespaces bool
	// edits means that the command writes. As for kubectl's own, -A alone is then not enough: it would be the whole cluster.
	edits bool
	// last is what follows the names, such as "an image"; "" if nothing does.
	last string
	// names is how many of the arguments are names, if something follows them.
	names func(args []string) int
}

func (s *selection) addTo(cmd *cobra.Command) {
	namespaces := "Select the Applications of all namespaces."
	if s.edits {
		namespaces = "With -l or --all: select the Applications of all namespaces."
	}
	cmd.Flags().StringVarP(&s.selector, "selector", "l", "", "Select Applications by their labels, for example team=shop.")
	cmd.Flags().BoolVar(&s.all, "all", false, "Select all Applications of the namespace.")
	cmd.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, namespaces)
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := s.check(cmd, args); err != nil || check == nil {
			return err
		}
		return check(cmd, args)
	}
}

// check refuses a command line that selects nothing, or in two ways.
func (s *selection) check(cmd *cobra.Command, args []string) error {
	names, flags := len(args), s.selector != "" || s.all || s.allNamespaces
	if s.last != "" {
		names = s.names(args)
	}
	switch {
	case names < 0, s.last != "" && names == 0 && !flags:
		return usageError(cmd.CommandPath(), "pass %s after the names: %s", s.last, cmd.UseLine())
	case names > 0 && flags && s.last != "":
		return usageError(cmd.CommandPath(), "give names, or %s, but not both. If %s is meant as an image, write its tag, too, as in %s:TAG", selectors(cmd), args[0], args[0])
	case names > 0 && flags:
		return usageError(cmd.CommandPath(), "give names, or %s, but not both", selectors(cmd))
	case names == 0 && !flags && s.edits:
		return usageError(cmd.CommandPath(), "name an Application, or select some with -l or --all")
	case names == 0 && !flags:
		return usageError(cmd.CommandPath(), "name an Application, or select some with %s", selectors(cmd))
	case s.all && s.selector != "":
		return usageError(cmd.CommandPath(), "pass -l or --all, but not both")
	case s.edits && s.allNamespaces && !s.all && s.selector == "":
		return usageError(cmd.CommandPath(), "-A alone would be every Application of the cluster: say which with -l, or add --all")
	default:
		return nil
	}
}

// selectors are the flags with which the command selects Applications.
func selectors(cmd *cobra.Command) string {
	if cmd.Flags().Lookup("all-namespaces") == nil {
		return "-l or --all"
	}
	return "-l, --all or -A"
}

// isKind reports whether a word before a slash is a kind for kubectl, rather than a namespace.
func isKind(word string) bool {
	word = strings.ToLower(word)
	short := []string{
		"app", "apps", "fla", "deploy", "po", "svc", "rs", "ing", "cm", "hpa", "sa", "pdb", "sts", "ds", "pvc", "no", v1.ApplicationResource,
	}
	others := []string{v1.ApplicationKind, "Pod", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "Secret", "PersistentVolumeClaim", "Node"}
	return slices.Contains(short, word) ||
		slices.ContainsFunc(child.AllKinds(), func(kind child.Kind) bool { return word == kind.Resource || strings.EqualFold(word, kind.Kind) }) ||
		slices.ContainsFunc(others, func(kind string) bool { return strings.EqualFold(strings.TrimSuffix(word, "s"), kind) })
}

// nameOf returns the name of an Application as the user gave it: alone, or with the kind, as kubectl takes and prints it.
func nameOf(arg string) (string, error) {
	if strings.TrimSpace(arg) == "" {
		return "", errors.New("the name of an Application is empty: write it, such as web")
	}
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
	if !isKind(kind) && !strings.Contains(kind, ".") && kind != "" && name != "" && !strings.Contains(name, "/") {
		return "", fmt.Errorf("%q is not the name of an Application: write its name alone, and its namespace with -n, if that is meant: -n %s %s", arg, kind, name)
	}
	return "", fmt.Errorf("%q is not the name of an Application: write its name alone, such as web", arg)
}

// deploymentName is nameOf for the name of a Deployment.
func deploymentName(arg string) (string, error) {
	kind, name, found := strings.Cut(arg, "/")
	if found && slices.Contains([]string{"deploy", "deployment", "deployments"}, strings.TrimSuffix(kind, ".apps")) {
		arg = name
	}
	name, err := nameOf(arg)
	if err != nil {
		return "", fmt.Errorf("%q is not the name of a Deployment: write its name alone, such as web", arg)
	}
	return name, nil
}

// many reports whether the user asked for any number of Applications.
func (s *selection) many(args []string) bool { return len(args) != 1 }

// read returns the Applications, by name or in the order of the list.
func (s *selection) read(ctx context.Context, t *tool, clients *cluster.Clients, args []string) ([]*v1.Application, error) {
	named, namespace, err := s.named(t, args)
	if err != nil {
		return nil, err
	}
	var applications []*v1.Application
	for _, name := range named {
		application, err := clients.Fairlead.AppsV1().Applications(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, misspelt(ctx, clients, name, t.notFound(err))
		}
		if err != nil {
			return nil, err
		}
		applications = append(applications, application)
	}
	if len(named) > 0 {
		return applications, nil
	}
	list, err := clients.Fairlead.AppsV1().Applications(namespace).List(ctx, metav1.ListOptions{LabelSelector: s.selector})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		applications = append(applications, &list.Items[i])
	}
	if len(applications) == 0 {
		return nil, fmt.Errorf("no Application matches in %s", scope(namespace))
	}
	return applications, nil
}

// readFound is read for a command that does what it can: it returns the Applications that the user may read, and why not the others.
func (s *selection) readFound(ctx context.Context, t *tool, clients *cluster.Clients, args []string) (applications []*v1.Application, missing []error, err error) {
	named, _, err := s.named(t, args)
	if err != nil {
		return nil, nil, err
	}
	if len(named) == 0 {
		applications, err = s.read(ctx, t, clients, nil)
		return applications, nil, err
	}
	for _, name := range named {
		application, err := clients.Fairlead.AppsV1().Applications(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
		switch {
		case err == nil:
			applications = append(applications, application)
		case apierrors.IsNotFound(err):
			missing = append(missing, t.adoptable(ctx, clients, name, err))
		case apierrors.IsForbidden(err):
			missing = append(missing, err)
		default:
			return nil, nil, err
		}
	}
	return applications, missing, nil
}

// readShown is readFound for a command that shows what it finds, and then ends with the error missing, which says what it did not find. If it
// finds nothing, that is the error.
func (s *selection) readShown(ctx context.Context, t *tool, clients *cluster.Clients, args []string) (applications []*v1.Application, missing, err error) {
	applications, errs, err := s.readFound(ctx, t, clients, args)
	if err == nil && len(errs) > 0 {
		missing = &missingError{errs}
	}
	if err == nil && len(applications) == 0 {
		err = missing
	}
	return applications, missing, err
}

// missingError ends a command that showed what it found. It has an error about each Application that was not.
type missingError struct{ each []error }

func (e *missingError) Error() string { return errors.Join(e.each...).Error() }

func (e *missingError) Unwrap() []error { return e.each }

// notFoundInError is about an object that is not in the namespace that the user gave, so that the advice to give one is of no use.
type notFoundInError struct {
	error

	namespace string
}

func (e *notFoundInError) Error() string { return e.error.Error() + " in namespace " + e.namespace }

func (e *notFoundInError) Unwrap() error { return e.error }

// notFound names the namespace, if the user gave it.
func (t *tool) notFound(err error) error {
	if namespace, given := t.givenNamespace(); given {
		return &notFoundInError{err, namespace}
	}
	return err
}

// givenNamespace is the namespace that the user passed with -n, if so.
func (t *tool) givenNamespace() (namespace string, given bool) {
	namespace, given, err := t.factory.ToRawKubeConfigLoader().Namespace()
	return namespace, given && err == nil
}

// adoptable says what to do about an Application that does not exist, although a Deployment of its name does. Otherwise it returns the
// error; so it does where the cluster does not even serve Applications.
func (t *tool) adoptable(ctx context.Context, clients *cluster.Clients, name types.NamespacedName, notFound error) error {
	if status := apierrors.APIStatus(nil); errors.As(notFound, &status) && isMissingAPI(status) {
		return notFound
	}
	deployment, err := clients.Kube.AppsV1().Deployments(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if err != nil || metav1.GetControllerOfNoCopy(deployment) != nil {
		return misspelt(ctx, clients, name, t.notFound(notFound))
	}
	if plan.IsLeftover(deployment) {
		return fmt.Errorf("there is no Application %s in namespace %s, but a Deployment of that name, which an earlier one left behind. "+
			"Apply the manifest of the Application again, and take the Deployment back: see docs/guides/take-back.md", name.Name, name.Namespace)
	}
	a := &adopting{tool: t, clients: clients, editing: editing{tool: t, from: platform{profile: string(podsecurity.LevelRestricted)}}, namespace: name.Namespace, name: name.Name, deployment: deployment}
	return fmt.Errorf("there is no Application %s in namespace %s, but a Deployment of that name. To let an Application adopt it, see what that would change: %s",
		name.Name, name.Namespace, a.command(a.harden(ctx)+"--dry-run=client"))
}

// misspeltError is about an object that does not exist, but one of nearly the same name does.
type misspeltError struct {
	error

	meant string
}

func (e *misspeltError) Unwrap() error { return e.error }

// misspelt names the Application that the user may have meant. A user without permission to list them gets the error alone.
func misspelt(ctx context.Context, clients *cluster.Clients, name types.NamespacedName, notFound error) error {
	list, err := clients.Fairlead.AppsV1().Applications(name.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return notFound
	}
	return nearestOf(list.Items, name.Name, notFound)
}

// misspeltDeployment is misspelt for a Deployment.
func misspeltDeployment(ctx context.Context, clients *cluster.Clients, name types.NamespacedName, notFound error) error {
	list, err := clients.Kube.AppsV1().Deployments(name.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return notFound
	}
	return nearestOf(list.Items, name.Name, notFound)
}

// nearestOf names the object that the user may have meant, if there is one.
func nearestOf[T any, P interface {
	*T
	metav1.Object
}](items []T, typed string, notFound error) error {
	var names []string
	for i := range items {
		names = append(names, P(&items[i]).GetName())
	}
	if meant := nearest.To(typed, names); meant != "" {
		return &misspeltError{notFound, meant}
	}
	return notFound
}

// named returns the Applications that the user named, each once, and the namespace to select others in. It asks no cluster.
func (s *selection) named(t *tool, args []string) (named []types.NamespacedName, namespace string, err error) {
	namespace, _, err = t.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", err
	}
	for _, arg := range args {
		name, err := nameOf(arg)
		if err != nil {
			return nil, "", err
		}
		if key := (types.NamespacedName{Namespace: namespace, Name: name}); !slices.Contains(named, key) {
			named = append(named, key)
		}
	}
	if s.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	return named, namespace, nil
}

// keys are the Applications by name. A cluster that does not answer, or an Application that is gone, is no obstacle for names.
func (s *selection) keys(ctx context.Context, t *tool, args []string) ([]types.NamespacedName, error) {
	keys, _, err := s.named(t, args)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	clients, err := t.clients()
	if err != nil {
		return nil, err
	}
	applications, err := s.read(ctx, t, clients, nil)
	for _, application := range applications {
		keys = append(keys, types.NamespacedName{Namespace: application.Namespace, Name: application.Name})
	}
	return keys, err
}

func scope(namespace string) string {
	if namespace == metav1.NamespaceAll {
		return "any namespace"
	}
	return "namespace " + namespace
}
