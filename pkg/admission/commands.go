// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

var (
	// flagWithValue is a flag and its value in one argument. It leaves out flags of one letter: many programs accept those.
	flagWithValue = regexp.MustCompile(`^--?[A-Za-z0-9][-A-Za-z0-9_.]+[ \t]+[^ \t]`)
	// subcommandWithFlag is one word and a long flag.
	subcommandWithFlag = regexp.MustCompile(`^[a-z][-a-z0-9_]*[ \t]+--[A-Za-z0-9]`)
	// flagAlone is a flag that may have the next argument as its value, spaces included.
	flagAlone = regexp.MustCompile(`^-[^= \t]*$`)
	// kubeletVariable is what the kubelet replaces in a command and its arguments.
	kubeletVariable = regexp.MustCompile(`\$\([A-Za-z_][-A-Za-z0-9_.]*\)`)
	// ofShell are commands that a shell has, and that are no programs.
	ofShell = []string{".", "cd", "eval", "exec", "export", "set", "source", "ulimit", "umask", "unset"}
)

// process is what a container, or a probe or a hook in it, starts.
type process struct {
	// field and args are the paths of the command and its arguments in the spec.
	field, args        string
	command, arguments []string
}

// unsplit returns a warning for each command that is one string with spaces, as Compose files have it: no shell splits it,
// so it is the name of one program, which hardly exists. It also returns one for each argument that is several.
func unsplit(spec *v1.ApplicationSpec) []string {
	var warnings []string
	for _, started := range processesOf(spec) {
		if len(started.command) > 0 && namesNoProgram(started.command) {
			warnings = append(warnings, fmt.Sprintf("%s: %q is taken as the name of one program, spaces included, because no shell splits it: %s",
				started.field, started.command[0], started.splitFirst()))
		}
		for i, argument := range started.arguments {
			before := started.before(i)
			severalWords := flagWithValue.MatchString(argument) || len(started.arguments) == 1 && isSubcommandWithFlag(argument)
			if !severalWords || flagAlone.MatchString(before) {
				continue
			}
			why := "because no shell splits it"
			if len(started.command) == 0 {
				why = "unless the entrypoint of the image is a shell"
			}
			warnings = append(warnings, fmt.Sprintf("%s: %q is one argument, spaces included, %s: %s",
				started.args, argument, why, eachAnItem(SplitArguments(before, argument))))
		}
	}
	return warnings
}

// processesOf returns what the containers start, the application container first.
func processesOf(spec *v1.ApplicationSpec) []process {
	all := []process{{field: "command", args: "args", command: spec.Command, arguments: spec.Args}}
	addExec := func(field string, exec *corev1.ExecAction) {
		if exec != nil {
			all = append(all, process{field: field + ".exec.command", command: exec.Command})
		}
	}
	addHooks := func(prefix string, lifecycle *corev1.Lifecycle) {
		if lifecycle == nil {
			return
		}
		for _, hook := range []struct {
			field   string
			handler *corev1.LifecycleHandler
		}{{"postStart", lifecycle.PostStart}, {"preStop", lifecycle.PreStop}} {
			if hook.handler != nil {
				addExec(prefix+"lifecycle."+hook.field, hook.handler.Exec)
			}
		}
	}
	for _, named := range probesOf(spec) {
		addExec(named.field, named.probe.Exec)
	}
	addHooks("", spec.Lifecycle)
	for _, others := range []struct {
		field      string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"sidecars", spec.Sidecars}} {
		for i := range others.containers {
			container := &others.containers[i]
			prefix := fmt.Sprintf("%s[%s].", others.field, container.Name)
			all = append(all, process{field: prefix + "command", args: prefix + "args", command: container.Command, arguments: container.Args})
			for _, named := range []struct {
				field string
				probe *corev1.Probe
			}{{"livenessProbe", container.LivenessProbe}, {"readinessProbe", container.ReadinessProbe}, {"startupProbe", container.StartupProbe}} {
				if named.probe != nil {
					addExec(prefix+named.field, named.probe.Exec)
				}
			}
			addHooks(prefix, container.Lifecycle)
		}
	}
	return all
}

// namesNoProgram reports whether the first item of a command is more than the name of a program. A single item always counts as a
// line; with others behind it, it may be a path with a space.
func namesNoProgram(command []string) bool {
	words := strings.Fields(command[0])
	if len(words) < 2 {
		return false
	}
	return len(command) == 1 || strings.HasPrefix(words[1], "-") || !strings.Contains(words[0], "/")
}

// isSubcommandWithFlag reports whether an argument is a subcommand and its flags, such as serve --port 80, and no script. The
// kubelet replaces $(NAME).
func isSubcommandWithFlag(argument string) bool {
	if !subcommandWithFlag.MatchString(argument) {
		return false
	}
	words, needsShell := text.ShellWords(kubeletVariable.ReplaceAllString(argument, "value"))
	return words != nil && !needsShell
}

// before is what the program gets before the argument; "" if that is the first.
func (p process) before(argument int) string {
	if argument > 0 {
		return p.arguments[argument-1]
	}
	if len(p.command) > 0 {
		return p.command[len(p.command)-1]
	}
	return ""
}

// splitFirst says what to write for a command whose first item is several words.
func (p process) splitFirst() string {
	first, others := p.command[0], p.command[1:]
	words, needsShell := text.ShellWords(first)
	switch {
	case words == nil && needsShell:
		return CloseQuote
	case len(others)+len(p.arguments) == 0:
		return eachAnItem(SplitCommand(first))
	case needsShell || len(words) == 0 || slices.Contains(ofShell, words[0]):
		return "make each word an item, or let a shell run the whole line, as in [sh, -c, LINE], with no other items and no args"
	default:
		return eachAnItem(text.FlowList(slices.Concat(words, others)))
	}
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
