// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/revision"
)

// Revisions has the cached revisions of an Application, in no order: informer.Informers. known is false where it cannot know.
type Revisions interface {
	Revisions(application *v1.Application) (revisions []*appsv1.ControllerRevision, known bool, err error)
}

// pinned warns where the revision that spec.rollback.toRevision names keeps the spec, or a change of it, from being carried out. It is a
// warning, because the cache may lack the newest revision.
func (h *Handler) pinned(ctx context.Context, in input, found *verdict) error {
	asked := toRevision(in.new)
	if len(found.errs) > 0 || asked == 0 {
		return nil
	}
	stays := in.old != nil && toRevision(in.old) == asked
	if stays && sameChildren(&in.old.Spec, &in.new.Spec) {
		return nil
	}
	revisions, known := h.revisions(ctx, in.new)
	if numbers := numbersOf(revisions); known && !slices.Contains(numbers, asked) {
		effect := "Fairlead changes nothing"
		if stays {
			effect = changeOf(&in.old.Spec, &in.new.Spec) + " has no effect"
		}
		found.warnings = append(found.warnings, fmt.Sprintf(
			"spec.rollback.toRevision: revision %d does not exist, so %s until you name another one or remove the field. %s", asked, effect, revisionsOf(numbers)))
		return nil
	}
	if known {
		errs, err := h.pinnedErrors(ctx, in.new, revisions)
		if err != nil {
			return err
		}
		if len(errs) > 0 {
			found.warnings = append(found.warnings, notApplied(in, errs)...)
			return nil
		}
	}
	if in.old != nil && toRevision(in.old) != 0 && !revision.SamePods(&in.old.Spec, &in.new.Spec) {
		found.warnings = append(found.warnings, fmt.Sprintf(
			"spec.rollback.toRevision: it names revision %d, so this change of the pods has no effect until you remove the field", asked))
	}
	return nil
}

// revisions has the cached revisions of the Application. known is false where nothing says which there are.
func (h *Handler) revisions(ctx context.Context, application *v1.Application) (revisions []*appsv1.ControllerRevision, known bool) {
	if h.config.Revisions == nil {
		return nil, false
	}
	revisions, known, err := h.config.Revisions.Revisions(application)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Revisions were not looked for", "application", klog.KObj(application), "err", err)
		return nil, false
	}
	return revisions, known
}

// pinnedErrors is why the sync does not carry out a valid spec: the revision that it names breaks a rule. The sync reports what is wrong
// with the spec first, so pinnedErrors returns nothing then.
func (h *Handler) pinnedErrors(ctx context.Context, application *v1.Application, revisions []*appsv1.ControllerRevision) (field.ErrorList, error) {
	if errs, err := h.config.Validate(ctx, application); err != nil || len(errs) > 0 {
		return nil, err
	}
	var rules class.Rules
	if h.config.Classes != nil {
		var err error
		if rules, err = h.config.classRules(ctx, application.Namespace); err != nil {
			return nil, err
		}
	}
	return h.pinnedErrorsBy(rules, application, revisions)
}

// toRevision returns the revision that the spec asks for; 0 if it asks for none.
func toRevision(application *v1.Application) int64 {
	if rollback := application.Spec.Rollback; rollback != nil && rollback.ToRevision != nil {
		return *rollback.ToRevision
	}
	return 0
}

// numbersOf returns the numbers of the revisions, the oldest first.
func numbersOf(revisions []*appsv1.ControllerRevision) []int64 {
	var numbers []int64
	for _, r := range revisions {
		numbers = append(numbers, r.Revision)
	}
	slices.Sort(numbers)
	return numbers
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
