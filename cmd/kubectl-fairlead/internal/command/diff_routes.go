// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"slices"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// leaveOutUnserved takes HTTPRoutes and ServiceMonitors out of a difference if the cluster serves none: none is written, and an Ingress that an
// HTTPRoute replaces stays until it is. The API server warns of them at the dry run.
func leaveOutUnserved(ctx context.Context, clients *cluster.Clients, d *preview.Difference) error {
	var unserved []child.Kind
	for _, kind := range []child.Kind{child.HTTPRoute, child.ServiceMonitor} {
		if !slices.ContainsFunc(d.Children, func(c preview.Child) bool { return c.Kind == kind.Kind }) {
			continue
		}
		isLacking, err := lacks(ctx, clients, kind)
		if err != nil {
			return err
		}
		if isLacking {
			unserved = append(unserved, kind)
		}
	}
	isUnserved := func(c preview.Child) bool {
		return slices.ContainsFunc(unserved, func(kind child.Kind) bool { return c.Kind == kind.Kind })
	}
	var waiting []string
	for _, c := range d.Children {
		if isUnserved(c) && c.Kind == child.HTTPRoute.Kind && c.Action != preview.Delete {
			waiting = append(waiting, c.Name)
		}
	}
	d.Children = slices.DeleteFunc(d.Children, func(c preview.Child) bool {
		return isUnserved(c) || c.Kind == child.Ingress.Kind && c.Action == preview.Delete && slices.Contains(waiting, c.Name)
	})
	return nil
}
