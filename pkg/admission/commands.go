// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

var (
	// flagWithValue is a flag and its value in one argument. It leaves out flags of one letter: many programs accept those.
	flagWithValue = regexp.MustCompile(`^--?[A-Za-z0-9][-A-Za-z0-9_.]+[ \t]+[^ \t]`)
	// flagAlone is a flag that may have the next argument as its value, spaces included.
	flagAlone = regexp.MustCompile(`^-[^= \t]*$`)
	// ofShell are commands that a shell has, and that are no programs.
	ofShell = []string{".", "cd", "eval", "exec", "export", "set", "source", "ulimit", "umask", "unset"}
)

// unsplit returns a warning for each command that is one string with spaces, as Compose files have it: no shell splits it,
// so it is the name of one program, which hardly exists. It also returns one for each argument that is a flag with its value.
func unsplit(spec *v1.ApplicationSpec) []string {
	var warnings []string
	check := func(field string, command []string) {
		if len(command) == 1 && len(strings.Fields(command[0])) > 1 {
			warnings = append(warnings, fmt.Sprintf("%s: %q is taken as the name of one program, spaces included, because no shell splits it: %s",
				field, command[0], eachAnItem(SplitCommand(command[0]))))
		}
	}
	check("command", spec.Command)
	for i, argument := range spec.Args {
		if before := previous(spec, i); !flagWithValue.MatchString(argument) || flagAlone.MatchString(before) {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("args: %q is one argument, spaces included, because no shell splits it: %s",
			argument, eachAnItem(SplitArguments(previous(spec, i), argument))))
	}
	for _, named := range probesOf(spec) {
		if named.probe.Exec != nil {
			check(named.field+".exec.command", named.probe.Exec.Command)
		}
	}
	return warnings
}

// previous is what the program gets before the argument; "" if that is the first.
func previous(spec *v1.ApplicationSpec, argument int) string {
	if argument > 0 {
		return spec.Args[argument-1]
	}
	if len(spec.Command) > 0 {
		return spec.Command[len(spec.Command)-1]
	}
	return ""
}

// CloseQuote says what to do about a string that has no list, because a quote is open at its end.
const CloseQuote = "close the open quote, and make each word an item"

func eachAnItem(list string) string {
	if list == "" {
		return CloseQuote
	}
	return "make each word an item, as in " + list
}

// SplitCommand shows the list to write for a command that is one string. What only a shell can run gets one. The list is empty if a quote
// is open at the end, because no shell can run that.
func SplitCommand(command string) (list string) {
	words, needsShell := text.ShellWords(command)
	switch {
	case words == nil && needsShell:
		return ""
	case needsShell || len(words) > 0 && slices.Contains(ofShell, words[0]):
		words = []string{"sh", "-c", strings.TrimSpace(command)}
	}
	return text.FlowList(words)
}

// SplitArguments shows the list to write for arguments that are one string. No shell sees them, but the kubelet replaces $(NAME).
// Behind a flag, the string is one item: it may be the script of sh -c. The list is empty if a quote is open at the end.
func SplitArguments(before, arguments string) (list string) {
	if flagAlone.MatchString(before) && strings.TrimSpace(arguments) != "" {
		return text.FlowList([]string{arguments})
	}
	words, needsShell := text.ShellWords(arguments)
	if words == nil && needsShell {
		return ""
	}
	return text.FlowList(words)
}
