// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app is the command: options become a config, the config is completed, and the server runs.
package app

import (
	"fmt"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // the flag --logging-format=json
	"k8s.io/component-base/version"

	"fairlead.dev/fairlead/pkg/apiserver"
)

// NewCommand returns the command fairlead-apiserver. It runs until the context of the command ends.
func NewCommand() *cobra.Command {
	options := NewOptions()
	var printVersion bool
	command := &cobra.Command{
		Use:   "fairlead-apiserver",
		Short: "Serves the subresources of Applications",
		Long: `fairlead-apiserver serves ` + "applications.subresources.apps.fairlead.dev" + ` behind the aggregation layer:
a live view of each Application, its tree and logs, and restart, rollback, pause and resume.

It is optional: the controller does not need it. In a cluster it needs no flags but the files of its certificate. Outside
of one, give it --kubeconfig.`,
		// Do not print the flags for an error at run time.
		SilenceUsage: true,
		Args:         cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if printVersion {
				_, err := fmt.Fprintln(command.OutOrStdout(), command.Name(), version.Get().GitVersion)
				return err
			}
			if err := logsapi.ValidateAndApply(options.Logging, nil); err != nil {
				return err
			}
			scheme, codecs := apiserver.NewScheme()
			config, err := options.Config(scheme, codecs)
			if err != nil {
				return err
			}
			completed, err := config.Complete(scheme, codecs)
			if err != nil {
				return err
			}
			server, err := completed.New()
			if err != nil {
				return err
			}
			return server.Run(command.Context())
		},
	}
	var sections cliflag.NamedFlagSets
	options.AddFlags(&sections)
	sections.FlagSet("global").BoolVar(&printVersion, "version", printVersion, "Print the version and quit.")
	for _, name := range sections.Order {
		command.Flags().AddFlagSet(sections.FlagSet(name))
	}
	cliflag.SetUsageAndHelpFunc(command, sections, 0)
	return command
}
