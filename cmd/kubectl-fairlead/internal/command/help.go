// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(cmd.CommandPath(), "%s", explainFlag(err))
	})
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

// oneName refuses a command line that names no object, or several.
func oneName(kind string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("name one %s", kind)
		case 1:
			return nil
		default:
			return fmt.Errorf("name one %s, not %d", kind, len(args))
		}
	}
}

// required asks for the first argument that is missing.
func required(asks ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(asks) {
			return errors.New(asks[len(args)])
		}
		return nil
	}
}

// explainFlag says which values a flag takes. The error of pflag names a function of Go.
func explainFlag(err error) string {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err.Error()
	}
	var takes string
	switch invalid.GetFlag().Value.Type() {
	case "int", "int32", "int64":
		takes = "a whole number"
	case "bool":
		takes = "true or false"
	case "duration":
		takes = "a duration, such as 5m"
	default:
		return err.Error()
	}
	return fmt.Sprintf("--%s is %q, but takes %s", invalid.GetFlag().Name, invalid.GetValue(), takes)
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
