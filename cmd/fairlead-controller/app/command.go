// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app is the command: options become a config, Complete checks the config, and Run wires everything together. It
// is the only package that imports all others.
package app

import (
	"fmt"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // the flag --logging-format=json
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
)

// NewCommand returns the command fairlead-controller. It runs until the context of the command ends.
func NewCommand() *cobra.Command {
	options := NewOptions()
	var printVersion bool
	command := &cobra.Command{
		Use:   "fairlead-controller",
		Short: "Runs Applications: writes their children and reports their status",
		Long: `fairlead-controller watches Applications (applications.apps.fairlead.dev), writes the Deployment,
Service and other children of each, and reports its status.

In a cluster it needs no flags. Outside of one it uses --kubeconfig, or $KUBECONFIG, or
~/.kube/config, as kubectl does.`,
		// Do not print the flags for an error at run time.
		SilenceUsage: true,
		Args:         noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if printVersion {
				_, err := fmt.Fprintln(command.OutOrStdout(), command.Name(), version.Get().GitVersion)
				return err
			}
			lowered := limitVerbosity(options.Logging)
			if err := logsapi.ValidateAndApply(options.Logging, nil); err != nil {
				return err
			}
			ctx := klog.NewContext(command.Context(), klog.Background())
			if lowered {
				klog.FromContext(ctx).Info("Lowering the verbosity: above this level client-go logs the content of Secrets", "level", maxVerbosity)
			}
			config, err := options.Config()
			if err != nil {
				return err
			}
			completed, err := config.Complete(ctx)
			if err != nil {
				return err
			}
			return Run(ctx, completed)
		},
	}
	var sections cliflag.NamedFlagSets
	options.AddFlags(&sections)
	// verflag's own flag would print the name Kubernetes.
	sections.FlagSet("global").BoolVar(&printVersion, "version", printVersion, "Print the version and quit.")
	for _, name := range sections.Order {
		command.Flags().AddFlagSet(sections.FlagSet(name))
	}
	cliflag.SetUsageAndHelpFunc(command, sections, 0)
	return command
}

func noArguments(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but got %q; see --help", command.CommandPath(), args)
	}
	return nil
}
