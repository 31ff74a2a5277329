// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/command"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
)

const intro = `# kubectl fairlead

<!-- Generated from the commands: go -C cmd/kubectl-fairlead test ./internal/command -run TestDocs -update -->

A kubectl plugin for Applications. ` + "`make plugin`" + ` compiles it into bin; kubectl finds it, and its completion, on your PATH:
` + "```sh\n" + `make plugin
export PATH="$PWD/bin:$PATH"
kubectl fairlead --help
` + "```" + `
Every command takes kubectl's own flags, such as ` + "`--context` and `-n`" + `; ` + "`kubectl fairlead options`" + ` lists them. It acts with your
rights: what you may not read is left out and named.

Text is for people: wrapped at a terminal, with colours unless NO_COLOR is set. Programs read ` + "`-o json` and `-o yaml`" + `, whose fields
stay. The exit code is 0 for yes, 1 for no (not ready, different, with findings) and 2 if there is no answer. Commands that are
kubectl's own below (get, logs, exec, port-forward) have kubectl's exit codes.
`

// TestDocs keeps docs/cli.md as the commands are. Each has a sentence about it, a description and two examples.
func TestDocs(t *testing.T) {
	root := command.New(genericiooptions.NewTestIOStreamsDiscard())
	var page bytes.Buffer
	page.WriteString(intro)
	page.WriteString(sharedFlags(root))
	for _, cmd := range documented(root) {
		path := strings.TrimPrefix(cmd.CommandPath(), "kubectl fairlead ")
		if cmd.Short == "" || cmd.Long == "" || strings.Count(cmd.Example, "# ") < 2 {
			t.Errorf("%s lacks a description, or two examples", path)
		}
		fmt.Fprintf(&page, "\n## %s\n%s.\n\n%s\n", path, cmd.Short, strings.TrimSpace(cmd.Long))
		fmt.Fprintf(&page, "```text\n%s\n\n%s\n```\n", cmd.UseLine(), dedent(cmd.Example))
		if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
			fmt.Fprintf(&page, "Flags:\n```text\n%s```\n", usages(flags))
		}
	}
	golden.Equal(t, "../../../../../docs/cli.md", page.Bytes())
}

// documented are the commands that do something, in the order of the help.
func documented(root *cobra.Command) []*cobra.Command {
	var commands []*cobra.Command
	for _, cmd := range root.Commands() {
		switch {
		case cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "options" || cmd.Name() == "completion":
		case cmd.HasSubCommands():
			commands = append(commands, documented(cmd)...)
		default:
			commands = append(commands, cmd)
		}
	}
	return commands
}

func dedent(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// usages are the flags without -h, one paragraph each.
func usages(flags *pflag.FlagSet) string {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "help" {
			shown.AddFlag(flag)
		}
	})
	return shown.FlagUsagesWrapped(110)
}

// TestHelp pins the help text.
func TestHelp(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	if code := command.Run(t.Context(), streams, []string{"--help"}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	golden.Equal(t, "help.txt", out.Bytes())
}

// TestTailHelp: kubectl's own help says that all lines are printed, which holds without a selector alone.
func TestTailHelp(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	command.Run(t.Context(), streams, []string{"logs", "--help"})
	if help := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(help, "--tail int The last lines of each log to print; -1 for all. (default 10) --") {
		t.Error(help)
	}
}

// TestUsage wants a wrong command line refused with what to do, and exit code 2.
func TestUsage(t *testing.T) {
	for line, want := range map[string]string{
		"status":                  "error: name an Application, or select some with -l, --all or -A\nSee 'kubectl fairlead status -h' for help and examples\n",
		"status web -A":           "error: give names, or -l, --all or -A, but not both\nSee 'kubectl fairlead status -h' for help and examples\n",
		"tree web -o html":        "error: unknown output format \"html\": use one of json, yaml, name, wide\nSee 'kubectl fairlead tree -h' for help and examples\n",
		"tree web --unknown":      "error: unknown flag: --unknown\nSee 'kubectl fairlead tree -h' for help and examples\n",
		"unknown":                 "error: unknown command \"unknown\" for \"kubectl fairlead\"\nSee 'kubectl fairlead -h' for the commands\n",
		"wyh":                     "error: unknown command \"wyh\" for \"kubectl fairlead\"\n\nDid you mean this?\n\twhy\nSee 'kubectl fairlead -h' for the commands\n",
		"scale web":               "error: pass the number of pods with --replicas\nSee 'kubectl fairlead scale -h' for help and examples\n",
		"scale web --replicas=-2": "error: --replicas is -2, but must be 0 or more\nSee 'kubectl fairlead scale -h' for help and examples\n",
		"timeline web --address=127.0.0.1:6060": "error: --address is \"127.0.0.1:6060\", but must be a URL such as http://127.0.0.1:6060\n" +
			"See 'kubectl fairlead timeline -h' for help and examples\n",
		"eject web -n lim --restore --output-dir=x": "error: pass --output-dir, or --restore or --to-helm, but not both: it saves the objects as the Application has them, " +
			"and not as they are restored. Restore them first, then save them with kubectl -n lim get deployment,service web -o yaml\n" +
			"See 'kubectl fairlead eject -h' for help and examples\n",
		"timeline pod/web":                        "error: \"pod/web\" is not the name of an Application: write its name alone, such as web\n",
		"lint -f x.yaml --security-profile=loose": "error: --security-profile is \"loose\": use one of restricted, baseline, privileged\n",
		"status web --timeout=x":                  "error: --timeout is \"x\", but takes a duration, such as 5m\nSee 'kubectl fairlead status -h' for help and examples\n",
	} {
		streams, _, out, errOut := genericiooptions.NewTestIOStreams()
		if code := command.Run(t.Context(), streams, strings.Fields(line)); code != command.ExitError {
			t.Errorf("%s: exit code %d, want %d", line, code, command.ExitError)
		}
		if errOut.String() != want || out.Len() > 0 {
			t.Errorf("%s: %q and %q, want nothing and %q", line, out, errOut, want)
		}
	}
}
