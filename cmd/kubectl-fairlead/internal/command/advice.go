// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"regexp"
	"strings"
)

// commandLine is a command of the plugin that the user can copy. It has the namespace where the command would not find it otherwise.
func (t *tool) commandLine(namespace, command string) string {
	if !t.mustName(namespace) {
		return pluginCommand + command
	}
	return pluginCommand + "-n " + namespace + " " + command
}

// pluginCommand begins each command of the plugin.
const pluginCommand = "kubectl fairlead "

// mustName reports whether a command needs -n for the namespace: it is not the one of the kubeconfig.
func (t *tool) mustName(namespace string) bool {
	current, given, err := t.factory.ToRawKubeConfigLoader().Namespace()
	return err != nil || given || current != namespace
}

// namespaced are the commands in advice that are about objects of a namespace.
var namespaced = regexp.MustCompile(`\bkubectl (fairlead (?:adopt|eject|history|logs|observe|restart|resume|scale|set|tree|top|undo|why)|annotate deployment|create secret|delete|describe (?:certificates|limitranges|persistentvolumeclaims|resourcequotas)|edit|events|logs|patch|rollout|scale|get (?:applications\.apps\.fairlead\.dev|deployment,service|horizontalpodautoscalers|persistentvolumeclaims|secret))\b`)

// withNamespace makes commands that the user can copy of those in the text.
func (t *tool) withNamespace(namespace, text string) string {
	if !t.mustName(namespace) {
		return text
	}
	return namespaced.ReplaceAllStringFunc(text, func(command string) string {
		words := strings.TrimPrefix(command, "kubectl ")
		if plugin, own := strings.CutPrefix(words, "fairlead "); own {
			return t.commandLine(namespace, plugin)
		}
		return "kubectl -n " + namespace + " " + words
	})
}

// withChosenNamespace is withNamespace for the namespace of the command itself.
func (t *tool) withChosenNamespace(text string) string {
	namespace, _, err := t.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return text
	}
	return t.withNamespace(namespace, text)
}
