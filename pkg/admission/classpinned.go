// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/revision"
)

// pinnedEffect corrects the effect of a changed class on an Application whose spec names the revision that runs. The class gives its pods
// nothing, but refuses it if that revision breaks its limits, whatever the spec says.
func (h *Handler) pinnedEffect(ctx context.Context, application *v1.Application, before, after class.Rules, effect class.Effect) class.Effect {
	isRefused := len(effect.Stalls) > 0 || len(effect.Stays) > 0
	if toRevision(application) == 0 || isRefused || application.Spec.ReconcilePolicy == v1.ReconcileSuspend || application.DeletionTimestamp != nil {
		return effect
	}
	effect.NewPods = false
	revisions, known := h.revisions(ctx, application)
	if !known {
		return effect
	}
	was, err := h.pinnedErrorsBy(before, application, revisions)
	if err != nil {
		return effect
	}
	is, err := h.pinnedErrorsBy(after, application, revisions)
	switch {
	case err != nil:
	case len(is) == 0:
		effect.Recovers = effect.Recovers || len(was) > 0
	case len(was) == 0 && !effect.Recovers: // It was not refused for its spec either.
		return class.Effect{Stalls: is}
	default:
		return class.Effect{Stays: is, Unchanged: slices.EqualFunc(was, is, func(a, b *field.Error) bool { return a.Error() == b.Error() })}
	}
	return effect
}

// pinnedErrorsBy is why the revision that the spec names breaks the rules. It says nothing of the spec.
func (h *Handler) pinnedErrorsBy(rules class.Rules, application *v1.Application, revisions []*appsv1.ControllerRevision) (field.ErrorList, error) {
	resolved := class.Resolve(application, rules)
	selection, err := revision.Select(revision.Input{
		Application: resolved.Application,
		History:     revisions,
		Validate: func(former *v1.Application) (field.ErrorList, string) {
			return resolved.ValidateAs(former, h.config.Validation)
		},
	})
	return selection.Invalid, err
}
