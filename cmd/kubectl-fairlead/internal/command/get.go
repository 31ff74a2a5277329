// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/cmd/get"
)

// applications is the resource as kubectl's commands take it. The group keeps it apart from other Applications.
const applications = "applications.apps.fairlead.dev"

// get is `kubectl get` for Applications, with all its flags: the API server prints the columns.
func (t *tool) get() *cobra.Command {
	cmd := get.NewCmdGet("kubectl fairlead", t.factory, t.IOStreams)
	run := cmd.Run
	cmd.Use = "get [NAME...] [flags]"
	cmd.Short = "List Applications, with the reason of those that are not ready"
	cmd.Long = "List Applications. It is kubectl get " + applications + ", and takes its flags."
	cmd.Example = examples(`
		# The Applications of the current namespace
		kubectl fairlead get

		# Those of all namespaces, with images, URLs and messages, as they change
		kubectl fairlead get -A -o wide -w`)
	cmd.ValidArgsFunction = t.completeNames()
	cmd.SuggestFor = nil
	hide(cmd, "filename", "kustomize", "recursive", "raw", "server-print", "chunk-size", "template", "allow-missing-template-keys",
		"subresource", "show-kind", "output-watch-events")
	cmd.Run = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asked := []string{applications}
		for _, arg := range args {
			name, err := nameOf(arg)
			if err != nil {
				return err
			}
			asked = append(asked, name)
		}
		run(cmd, asked)
		return nil
	}
	return cmd
}
