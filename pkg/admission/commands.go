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
	// ofShell are commands that a shell has, and that are no programs.
	ofShell = []string{".", "cd", "eval", "exec", "export", "set", "source", "ulimit", "umask", "unset"}
)

// process is what a container, or a probe or a hook in it, starts.
type process struct {
	// field is the path of the command in the spec, and args that of the arguments.
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
				started.field, started.command[0], eachAnItem(splitFirst(started.command))))
		}
		for i, argument := range started.arguments {
			before := started.before(i)
			if flagAlone.MatchString(before) || !flagWithValue.MatchString(argument) && (i > 0 || !isSubcommandWithFlag(argument)) {
				continue
			}
			warnings = append(warnings, fmt.Sprintf("%s: %q is one argument, spaces included, because no shell splits it: %s",
				started.args, argument, eachAnItem(SplitArguments(before, argument))))
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
			for field, probe := range map[string]*corev1.Probe{
				"livenessProbe": container.LivenessProbe, "readinessProbe": container.ReadinessProbe, "startupProbe": container.StartupProbe,
			} {
				if probe != nil {
					addExec(prefix+field, probe.Exec)
				}
			}
			addHooks(prefix, container.Lifecycle)
		}
	}
	slices.SortStableFunc(all, func(a, b process) int { return strings.Compare(a.field, b.field) })
	return all
}

// namesNoProgram reports whether the first word of a command is more than the name of a program. A directory may have a space in its name.
func namesNoProgram(command []string) bool {
	words := strings.Fields(command[0])
	if len(words) < 2 {
		return false
	}
	return len(command) == 1 || strings.HasPrefix(words[1], "-") || !strings.Contains(command[0], "/")
}

// isSubcommandWithFlag reports whether an argument is a subcommand and its flags, such as serve --port 80, and no script.
func isSubcommandWithFlag(argument string) bool {
	if !subcommandWithFlag.MatchString(argument) {
		return false
	}
	words, needsShell := text.ShellWords(argument)
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

// splitFirst shows the list to write for a command whose first item is several words.
func splitFirst(command []string) string {
	words, needsShell := text.ShellWords(command[0])
	if len(command) == 1 || needsShell {
		return SplitCommand(command[0])
	}
	return text.FlowList(slices.Concat(words, command[1:]))
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
