// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/command"
)

// usual are the flags of kubectl that commands have as they make sense, in the columns of docs/cli.md.
var usual = []struct {
	column string
	names  []string
}{
	{"Applications", []string{"selector", "all", "all-namespaces"}},
	{"Output", []string{"output", "no-headers"}},
	{"Repeats", []string{"watch", "follow"}},
	{"Dry run", []string{"dry-run"}},
}

// usualFlags are those of a command, by column.
func usualFlags(cmd *cobra.Command) []string {
	columns := make([]string, 0, len(usual))
	for _, column := range usual {
		var has []string
		for _, name := range column.names {
			if flag := cmd.LocalNonPersistentFlags().Lookup(name); flag != nil && !flag.Hidden {
				has = append(has, written(flag))
			}
		}
		columns = append(columns, strings.Join(has, " "))
	}
	return columns
}

// written is a flag as users write it, with its formats.
func written(flag *pflag.Flag) string {
	name := "--" + flag.Name
	if flag.Shorthand != "" {
		name = "-" + flag.Shorthand
	}
	if _, formats, found := strings.Cut(flag.Usage, "One of: "); found && !strings.HasPrefix(formats, "(") { // kubectl's own has many.
		name += " " + strings.ReplaceAll(strings.TrimSuffix(formats, "."), ", ", "|")
	}
	return name
}

// TestUsualFlags holds which commands have which of kubectl's usual flags.
func TestUsualFlags(t *testing.T) {
	const many, edits = "-l --all -A", "-o json|yaml|name"
	want := map[string][]string{
		"get":          {"-l -A", "-o --no-headers", "-w", ""},
		"status":       {many, "-o json|yaml|name|wide", "-w", ""},
		"why":          {many, "-o json|yaml", "-w", ""},
		"tree":         {many, "-o json|yaml|name|wide", "-w", ""},
		"history":      {many, "-o json|yaml|name --no-headers", "-w", ""},
		"timeline":     {many, "-o json|yaml", "-w -f", ""},
		"render":       {"", "-o json|yaml|name", "", ""},
		"diff":         {"", "-o json|yaml", "", ""},
		"lint":         {"", "-o json|yaml|sarif", "", ""},
		"undo":         {many, edits, "", "--dry-run"},
		"restart":      {many, edits, "", "--dry-run"},
		"pause":        {many, edits, "", "--dry-run"},
		"resume":       {many, edits, "", "--dry-run"},
		"suspend":      {many, edits, "", "--dry-run"},
		"observe":      {many, edits, "", "--dry-run"},
		"scale":        {many, edits, "", "--dry-run"},
		"set image":    {many, edits, "", "--dry-run"},
		"logs":         {"-l --all", "", "-f", ""},
		"exec":         {"", "", "", ""},
		"port-forward": {"", "", "", ""},
		"top":          {many, "-o json|yaml --no-headers", "-w", ""},
		"adopt":        {"", edits, "", "--dry-run"},
		"eject":        {"", edits, "", "--dry-run"},
		"classes":      {"-l", "-o json|yaml|name", "-w", ""},
		"doctor":       {"", "-o json|yaml", "", ""},
	}
	root := command.New(genericiooptions.NewTestIOStreamsDiscard())
	for _, flag := range []string{"namespace", "context", "kubeconfig", "as"} {
		if root.PersistentFlags().Lookup(flag) == nil {
			t.Errorf("the commands lack --%s", flag)
		}
	}
	got := map[string][]string{}
	for _, cmd := range documented(root) {
		got[pathOf(cmd)] = usualFlags(cmd)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func pathOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), "kubectl fairlead ")
}

// sharedFlags is the table of docs/cli.md.
func sharedFlags(root *cobra.Command) string {
	var table strings.Builder
	table.WriteString("\n## The usual flags\n| Command ")
	for _, column := range usual {
		table.WriteString("| " + column.column + " ")
	}
	table.WriteString("|\n" + strings.Repeat("|---", len(usual)+1) + "|\n")
	for _, cmd := range documented(root) {
		table.WriteString("| " + pathOf(cmd) + " ")
		for _, flags := range usualFlags(cmd) {
			if flags != "" {
				flags = "`" + strings.ReplaceAll(flags, "|", "\\|") + "` "
			}
			table.WriteString("| " + flags)
		}
		table.WriteString("|\n")
	}
	return table.String() + usualNote
}

const usualNote = `
Commands about Applications take one or more names; or ` + "`-l`, `--all` or `-A`" + ` in their place. ` + "`-A`" + ` alone reads all
namespaces, and edits nothing: add ` + "`-l` or `--all`" + `, as for kubectl label. Several Applications are edited one after the other.
An edit that fails does not stop the others; the last line counts them, and the exit code is 2.

What a command lacks makes no sense for it:
- ` + "`exec` and `port-forward`" + ` are about one pod, ` + "`logs`" + ` about one namespace, as kubectl's own. ` + "`adopt` and `eject`" + ` take one name,
  because each Deployment needs a decision of its own. ` + "`render`, `diff` and `lint`" + ` read files, ` + "`doctor`" + ` the installation.
- ` + "`--no-headers`" + ` is for tables, ` + "`-o wide`" + ` for text that leaves something out otherwise, and ` + "`-o name`" + ` for lists of objects.
  With ` + "`-o`, `adopt` and `eject`" + ` write their text to standard error.
- ` + "`-w`" + ` is for what shows the cluster. ` + "`status`, `why`, `tree`, `history`, `top` and `classes`" + ` read again every two seconds, and
  print when something has changed, until ` + "`--timeout`" + `. An edit ends at once: watch what it does with ` + "`status --watch`" + `. ` + "`doctor`" + ` asks
  every webhook, and is run again.
`
