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
	if len(found.errs) > 0 || h.config.Revisions == nil || asked == 0 || in.old != nil && toRevision(in.old) == asked {
		return nil
	}
	numbers, known, err := h.config.Revisions.Revisions(in.new)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Revisions were not looked for", "application", klog.KObj(in.new), "err", err)
		return nil
	}
	if known && !slices.Contains(numbers, asked) {
		found.warnings = append(found.warnings, fmt.Sprintf(
			"spec.rollback.toRevision: revision %d does not exist, so Fairlead changes nothing until you name another one or remove the field. %s", asked, revisionsOf(numbers)))
	}
	return nil
}

// pinnedPods warns of a change of the pods that has no effect, because the spec names a revision, as it did before.
func pinnedPods(_ context.Context, in input, found *verdict) error {
	pinned := toRevision(in.new)
	if len(found.errs) > 0 || in.old == nil || pinned == 0 || toRevision(in.old) != pinned || revision.SamePods(&in.old.Spec, &in.new.Spec) {
		return nil
	}
	found.warnings = append(found.warnings, fmt.Sprintf(
		"spec.rollback.toRevision: the pods stay at revision %d, so this change of the pods has no effect until you remove the field", pinned))
	return nil
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
