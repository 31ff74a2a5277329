// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// readBefore reads the Applications of --from, by namespace and name. Applying files deletes nothing that they do not have.
func (t *tool) readBefore(ctx context.Context, from platform, before []string, after []filed) (map[string]*v1.Application, error) {
	olds, _, err := from.applications(ctx, t, before)
	if err != nil {
		return nil, err
	}
	byName := map[string]*v1.Application{}
	if len(olds) == 1 && len(after) == 1 {
		if old, application := olds[0], after[0]; old.Name != application.Name {
			return nil, fmt.Errorf("the files are about two Applications, %s and %s: compare two versions of one", old.Name, application.Name)
		}
		byName[after[0].String()] = olds[0].Application
		return byName, nil
	}
	for _, old := range olds {
		byName[old.String()] = old.Application
		if !slices.ContainsFunc(after, func(application filed) bool { return application.String() == old.String() }) {
			fmt.Fprintf(t.ErrOut, "%s is in --from alone: applying the other files leaves it as it is.\n", old)
		}
	}
	return byName, nil
}

// compareFiles computes what the file would change of the one before; nil if that does not have the Application.
func (t *tool) compareFiles(ctx context.Context, from platform, checker *manifest.Checker, old, application *v1.Application) (preview.Difference, error) {
	around := &v1.Application{ObjectMeta: application.ObjectMeta}
	platform, err := from.platformOf(ctx, t, classedAs(around, application), checker)
	if err != nil {
		return preview.Difference{}, err
	}
	live := child.Snapshot{Application: old}
	if old == nil {
		live.Application = around
	}
	_, d, err := t.difference(old, application, live, platform)
	d.Pods.LiveUnknown = true
	return d, err
}
