// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package command has the commands of the plugin. A command parses flags, reads the cluster and prints; what it says is
// computed by the packages beside this one.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/version"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/completion"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/plan"
)

// Exit codes. Commands that hand over to kubectl's own (get, logs, exec, port-forward) have kubectl's.
const (
	// ExitYes means success: the command did its work, and the answer to a question is yes.
	ExitYes = 0
	// ExitNo means that the answer is no: not ready, different, with findings.
	ExitNo = 1
	// ExitError means that there is no answer; the message has the reason.
	ExitError = 2
)

// errNo ends a command whose answer, already printed, is no.
var errNo = errors.New("no")

// errSaid ends a command whose error is already printed.
var errSaid = errors.New("said")

// tool is what all commands share.
type tool struct {
	genericiooptions.IOStreams
	factory cmdutil.Factory
	flags   *genericclioptions.ConfigFlags
	now     func() time.Time
	getenv  func(string) string
	differ  plan.Differ
	warned  *warnings
	// connected has the clients after the first call of clients.
	connected *cluster.Clients
}

// Run runs the command line and returns the exit code.
func Run(ctx context.Context, streams genericiooptions.IOStreams, args []string) int {
	root := New(streams) //nolint:contextcheck // The commands get the context when they run.
	root.SetArgs(args)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return ExitYes
	case errors.Is(err, errNo):
		return ExitNo
	case errors.Is(err, errSaid):
		return ExitError
	default:
		fmt.Fprintf(streams.ErrOut, "error: %s\n", explain(err))
		return ExitError
	}
}

// New makes the root command.
func New(streams genericiooptions.IOStreams) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50)
	writer := rest.NewWarningWriter(streams.ErrOut, rest.WarningWriterOptions{Deduplicate: true, Color: printers.AllowsColorOutput(streams.ErrOut)})
	warned := &warnings{WarningHandler: writer}
	flags.WithWrapConfigFn(func(config *rest.Config) *rest.Config {
		config.WarningHandler = warned
		return config
	})
	t := &tool{IOStreams: streams, flags: flags, now: time.Now, getenv: os.Getenv, differ: plan.NewDiffer(scheme.Scheme), warned: warned}
	t.factory = cmdutil.NewFactory(cmdutil.NewMatchVersionFlags(flags))
	root := &cobra.Command{
		Use:   "kubectl-fairlead",
		Short: "Work with Applications",
		Long: long(`
			Work with the Applications of Fairlead: see how they stand and why, see what a change would do, make it, and
			take it back.`),
		Version:       version.Get().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		// kubectl passes this name of the plugin.
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl fairlead"},
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	flags.AddFlags(root.PersistentFlags())
	group(root, "see", "See how an Application stands:", t.get(), t.status(), t.why(), t.tree(), t.history(), t.timeline())
	group(root, "check", "See what a change would do:", t.render(), t.diff(), t.lint())
	group(root, "edit", "Change an Application:", t.edits()...)
	group(root, "pods", "Work with its pods:", t.logs(), t.exec(), t.portForward(), t.top())
	group(root, "move", "Move what runs already:", t.adopt(), t.eject())
	group(root, "platform", "Look after the platform:", t.classes(), t.doctor())
	t.finishHelp(root)
	completion.SetFactoryForCompletion(t.factory)
	t.completeFlags(root)
	return root
}

// completeFlags completes the values of kubectl's own flags.
func (t *tool) completeFlags(root *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{
		"namespace": completion.ResourceNameCompletionFunc(t.factory, "namespace"),
		"context":   completion.ContextCompletionFunc,
		"cluster":   completion.ClusterCompletionFunc,
		"user":      completion.UserCompletionFunc,
	} {
		cmdutil.CheckErr(root.RegisterFlagCompletionFunc(flag, complete))
	}
}

// clients connects to the cluster of the flags, once.
func (t *tool) clients() (*cluster.Clients, error) {
	if t.connected != nil {
		return t.connected, nil
	}
	config, err := t.factory.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	t.connected, err = cluster.New(config)
	return t.connected, err
}

func (t *tool) screen() *screen.Screen { return screen.New(t.Out, t.getenv) }

// completeNames completes the names of Applications.
func (t *tool) completeNames() cobra.CompletionFunc {
	return completion.ResourceNameCompletionFunc(t.factory, "applications.apps.fairlead.dev")
}

// completeClasses completes the value of a flag. That there is a name already does not matter to it.
func (t *tool) completeClasses(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return completion.CompGetResource(t.factory, "applicationclasses.apps.fairlead.dev", toComplete), cobra.ShellCompDirectiveNoFileComp
}
