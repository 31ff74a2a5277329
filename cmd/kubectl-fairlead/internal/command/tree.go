// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/tree"
)

func (t *tool) tree() *cobra.Command {
	var (
		chosen selection
		out    output
		watch  watching
	)
	cmd := &cobra.Command{
		Use:   "tree NAME... [flags]",
		Short: "Show the objects of an Application, with health and reason",
		Long: long(`
			Show an Application, its children, their ReplicaSets, pods and endpoints as a tree, each with its health and the
			reason. Former ReplicaSets are shown while they have pods.`),
		Example: examples(`
			# The objects of the Application web
			kubectl fairlead tree web

			# The same, drawn again as it changes, with whole messages
			kubectl fairlead tree web -w -o wide`),
		ValidArgsFunction: t.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return watch.redraw(cmd.Context(), t, func(ctx context.Context, to *screen.Screen) error {
				return t.drawTree(ctx, to, &chosen, out, args)
			})
		},
	}
	out.addTo(cmd, formatName, formatWide)
	chosen.addTo(cmd)
	watch.addTo(cmd, &out, "Draw it again whenever it changes.")
	return cmd
}

func (t *tool) drawTree(ctx context.Context, to *screen.Screen, chosen *selection, out output, args []string) error {
	clients, err := t.clients()
	if err != nil {
		return err
	}
	applications, missing, err := chosen.readShown(ctx, t, clients, args)
	if err != nil {
		return err
	}
	roots := make([]rootNode, 0, len(applications))
	for _, application := range applications {
		loaded, err := clients.Load(ctx, application)
		if err != nil {
			return err
		}
		roots = append(roots, newRoot(loaded))
	}
	switch {
	case out.machine():
		if err := encode(to.Writer(), out.format, roots, chosen.many(args)); err != nil {
			return err
		}
	case out.format == formatName:
		for _, root := range roots {
			for _, node := range root.All() {
				to.Line(resourceName(node.Group, node.Kind, node.Name))
			}
		}
	default:
		for _, root := range roots {
			name := root.Ref()
			if chosen.allNamespaces {
				name = root.Namespace + "/" + root.Name
			}
			root.print(to, name, out.format == formatWide)
		}
	}
	return missing
}

// rootNode is an Application with its tree. Its JSON is stable: fields are added, never changed.
type rootNode struct {
	Namespace string `json:"namespace"`
	*tree.Node
	// Unreadable are the resources that the user may not list, so that the tree lacks them.
	Unreadable []string `json:"unreadable,omitempty"`
}

func newRoot(loaded *cluster.Loaded) rootNode {
	objects := loaded.Objects
	for _, resource := range slices.Sorted(maps.Keys(loaded.Unreadable)) {
		if resource != "events" { // No tree has them.
			objects.Hidden = append(objects.Hidden, resource)
		}
	}
	return rootNode{Namespace: loaded.Application.Namespace, Node: tree.Build(objects), Unreadable: objects.Hidden}
}

func (r rootNode) print(to *screen.Screen, name string, wide bool) {
	to.TreeOf(name, r.Node, wide)
	if len(r.Unreadable) > 0 {
		to.Hanging("  ", "Not shown: you may not list "+strings.Join(r.Unreadable, ", "))
	}
}

// resourceName is the object as `-o name` prints it, for other commands to take.
func resourceName(group, kind, name string) string {
	resource := strings.ToLower(kind)
	if group != "" {
		resource += "." + group
	}
	return resource + "/" + name
}
