// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/revision"
)

// Revisions knows the numbers of an Application's revisions, the oldest first: informer.Informers. known is false where it
// cannot know.
type Revisions interface {
	Revisions(application *v1.Application) (numbers []int64, known bool, err error)
}

// missingRevision warns of a revision that spec.rollback.toRevision begins to name and that does not exist. It is a warning,
// because the cache may lack the newest revision.
func (h *Handler) missingRevision(ctx context.Context, in input, found *verdict) error {
	asked := toRevision(in.new)
	if len(found.errs) > 0 || asked == 0 || in.old != nil && toRevision(in.old) == asked {
		return nil
	}
	if numbers, missing := h.lacksRevision(ctx, in.new, asked); missing {
		found.warnings = append(found.warnings, fmt.Sprintf(
			"spec.rollback.toRevision: revision %d does not exist, so Fairlead changes nothing until you name another one or remove the field. %s", asked, revisionsOf(numbers)))
	}
	return nil
}

// pinnedPods warns of a change of the pods that has no effect, because the spec names a revision, as it did before.
func (h *Handler) pinnedPods(ctx context.Context, in input, found *verdict) error {
	pinned := toRevision(in.new)
	if len(found.errs) > 0 || in.old == nil || pinned == 0 || toRevision(in.old) != pinned || revision.SamePods(&in.old.Spec, &in.new.Spec) {
		return nil
	}
	if numbers, missing := h.lacksRevision(ctx, in.new, pinned); missing {
		found.warnings = append(found.warnings, fmt.Sprintf(
			"spec.rollback.toRevision: revision %d does not exist, so this change of the pods has no effect until you name another one or remove the field. %s", pinned, revisionsOf(numbers)))
		return nil
	}
	found.warnings = append(found.warnings, fmt.Sprintf(
		"spec.rollback.toRevision: the pods stay at revision %d, so this change of the pods has no effect until you remove the field", pinned))
	return nil
}

// lacksRevision reports whether the Application is known to have no such revision, and returns those that it has.
func (h *Handler) lacksRevision(ctx context.Context, application *v1.Application, number int64) (numbers []int64, missing bool) {
	if h.config.Revisions == nil {
		return nil, false
	}
	numbers, known, err := h.config.Revisions.Revisions(application)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Revisions were not looked for", "application", klog.KObj(application), "err", err)
		return nil, false
	}
	return numbers, known && !slices.Contains(numbers, number)
}

// toRevision returns the revision that the spec asks for; 0 if it asks for none.
func toRevision(application *v1.Application) int64 {
	if rollback := application.Spec.Rollback; rollback != nil && rollback.ToRevision != nil {
		return *rollback.ToRevision
	}
	return 0
}

// revisionsOf lists the revisions, or the last of many.
func revisionsOf(numbers []int64) string {
	const most = 10
	if len(numbers) == 0 {
		return "The Application has no revisions yet"
	}
	text := "Revisions: "
	if more := len(numbers) - most; more > 0 {
		text, numbers = fmt.Sprintf("Revisions: %d older ones, ", more), numbers[more:]
	}
	var names []string
	for _, number := range numbers {
		names = append(names, strconv.FormatInt(number, 10))
	}
	return text + strings.Join(names, ", ")
}
