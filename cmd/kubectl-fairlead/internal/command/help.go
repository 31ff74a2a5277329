// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/cmd/options"
)

// usageTemplate is cobra's own, but for kubectl's global flags, which would bury those of the command.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{else}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{range $group := .Groups}}

{{.Title}}{{range $.Commands}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if and .HasAvailableSubCommands (not .Groups)}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .LocalNonPersistentFlags.HasAvailableFlags}}

Flags:
{{.LocalNonPersistentFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}

Use "kubectl fairlead options" for the flags of all commands, such as --namespace and --context.
`

// group adds commands under a heading of the help.
func group(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = id
		root.AddCommand(cmd)
	}
}

// finishHelp sets how the help looks, once all commands are added.
func (t *tool) finishHelp(root *cobra.Command) {
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError(cmd.CommandPath(), "%s", err) })
	root.SetHelpCommand(helpCommand(root))
	root.CompletionOptions.HiddenDefaultCmd = true
	list := options.NewCmdOptions(t.Out)
	list.Hidden = true
	root.AddCommand(list)
	explainArgs(root)
}

// helpCommand prints the help of a command, as -h does. Cobra's own would be in the list of commands.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, _, err := root.Find(args)
			if err != nil {
				return err
			}
			cmd.InitDefaultHelpFlag()
			cmd.InitDefaultVersionFlag()
			return cmd.Help()
		},
	}
}

// explainArgs makes the commands name their help when they get too many or too few arguments.
func explainArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil || strings.Contains(err.Error(), "\nSee '") {
				return err
			}
			if strings.HasPrefix(err.Error(), "unknown command") { // It is an argument, and the command takes none.
				err = fmt.Errorf("there is an argument too many, %q", args[0])
			}
			return usageError(cmd.CommandPath(), "%s: %s", err, cmd.UseLine())
		}
	}
	for _, below := range cmd.Commands() {
		explainArgs(below)
	}
}

// long is a description: without the indentation of the source.
func long(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// examples are indented as in kubectl.
func examples(text string) string {
	lines := strings.Split(long(text), "\n")
	for i := range lines {
		if lines[i] != "" {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// hide keeps flags that make no sense for the command out of its help.
func hide(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		if f := cmd.Flags().Lookup(flag); f != nil {
			f.Hidden = true
		}
	}
}
