// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/revision"
)

// choose decides whether the pods are what the spec says, or what they were when they were healthy last.
func (c *Controller) choose(snapshot child.Snapshot, rollout health.Rollout, resolved class.Resolution) (revision.Selection, error) {
	application := snapshot.Application
	in := revision.Input{
		Application: resolved.Application,
		Health:      rollout,
		Validate: func(former *v1.Application) (field.ErrorList, string) {
			return resolved.ValidateAs(former, c.Validation)
		},
	}
	for _, live := range ownedChildren(snapshot) {
		switch object := live.(type) {
		case *appsv1.ControllerRevision:
			in.History = append(in.History, object)
		case *appsv1.Deployment:
			if object.Name == application.Name {
				in.Deployment = object
			}
		}
	}
	return revision.Select(in)
}

// rendered is a record as the rendering wants it.
func rendered(record revision.Record) render.Revision {
	return render.Revision{
		Name: record.Name, Number: record.Number, Data: record.Data,
		RolledBackFrom: record.RolledBackFrom, RolledBackBecause: record.RolledBackBecause,
	}
}

// keptRevisions are the children that stay although nothing renders them any more.
func keptRevisions(application *v1.Application, record revision.Record) map[child.Ref]bool {
	kept := make(map[child.Ref]bool, len(record.Kept))
	for _, name := range record.Kept {
		kept[child.Ref{Kind: child.ControllerRevision, Namespace: application.Namespace, Name: name}] = true
	}
	return kept
}
