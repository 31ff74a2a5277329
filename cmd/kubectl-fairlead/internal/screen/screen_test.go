// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package screen_test

import (
	"bytes"
	"strings"
	"testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/tree"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

func TestTree(t *testing.T) {
	for _, name := range treetest.Names(t) {
		t.Run(name, func(t *testing.T) {
			objects, _ := treetest.Load(t, name)
			golden.Screens(t, name, func(to *screen.Screen) { to.Tree(tree.Build(objects), false) })
		})
	}
	objects, _ := treetest.Load(t, "image")
	golden.Screens(t, "image.wide", func(to *screen.Screen) { to.Tree(tree.Build(objects), true) })
	var color bytes.Buffer
	screen.Fixed(&color, 80, true).Tree(tree.Build(objects), false)
	golden.Equal(t, "image.color.txt", color.Bytes())
}

// TestNothingForTerminals wants no text of another component to command the terminal.
func TestNothingForTerminals(t *testing.T) {
	var got bytes.Buffer
	to := screen.Fixed(&got, 80, true)
	to.Line("title\x1b]0;owned\a, clear\x1b[2J, rtl\u202e, " + to.Paint(screen.Red, "red"))
	if want := "title]0;owned, clear[2J, rtl, \x1b[31mred\x1b[0m\n"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}

// TestPipe wants text for a pipe whole and plain, whatever the environment says.
func TestPipe(t *testing.T) {
	var got bytes.Buffer
	to := screen.New(&got, func(string) string { return "" })
	long := strings.Repeat("word ", 100) + "end"
	to.Row("Label", to.Health(tree.Degraded, to.Paint(screen.Red, long)))
	if want := "Label        " + long + "\n"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}

// TestCommandsStayWhole: the first line of a command in two lines would do something else.
func TestCommandsStayWhole(t *testing.T) {
	for text, want := range map[string]string{
		"See what that would do: kubectl fairlead resume web --dry-run=client": "   → See what that would do:\n" +
			"     kubectl fairlead resume web --dry-run=client\n",
		"Go on: kubectl fairlead resume web": "   → Go on: kubectl fairlead resume web\n",
		"If it is gone for good: kubectl edit applications.apps.fairlead.dev web, and remove the finalizer.": "   → If it is gone for good:\n" +
			"     kubectl edit applications.apps.fairlead.dev web,\n     and remove the finalizer.\n",
		"Look at the message, and see 'kubectl fairlead doctor', and run the command again": "   → Look at the message, and see\n" +
			"     'kubectl fairlead doctor', and run the\n     command again\n",
	} {
		var got bytes.Buffer
		screen.Fixed(&got, 44, false).Hanging("   → ", text)
		if got.String() != want {
			t.Errorf("%q, want %q", got.String(), want)
		}
	}
}
