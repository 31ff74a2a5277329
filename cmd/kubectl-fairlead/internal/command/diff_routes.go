// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"slices"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// leaveOutUnserved takes HTTPRoutes out of a difference if the cluster serves none: none is written, and an Ingress that one replaces stays
// until it is. The API server warns of such a route at the dry run.
func leaveOutUnserved(ctx context.Context, clients *cluster.Clients, application *v1.Application, d *preview.Difference) error {
	isRoute := func(c preview.Child) bool { return c.Kind == child.HTTPRoute.Kind }
	if !slices.ContainsFunc(d.Children, isRoute) {
		return nil
	}
	lacks, err := lacksHTTPRoutes(ctx, clients, application)
	if err != nil || !lacks {
		return err
	}
	var waiting []string
	for _, c := range d.Children {
		if isRoute(c) && c.Action != preview.Delete {
			waiting = append(waiting, c.Name)
		}
	}
	d.Children = slices.DeleteFunc(d.Children, func(c preview.Child) bool {
		return isRoute(c) || c.Kind == child.Ingress.Kind && c.Action == preview.Delete && slices.Contains(waiting, c.Name)
	})
	return nil
}
