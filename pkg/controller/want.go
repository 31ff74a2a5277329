// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/revision"
)

// wanted is what an Application is to be.
type wanted struct {
	class *v1.AppliedClass
	// choice is it, with the defaults of its class, and of the revision that is to run.
	choice revision.Selection
	// invalid is why nothing is to be changed, and invalidReason is the reason for a condition.
	invalid       field.ErrorList
	invalidReason string
}

// want resolves the class, validates, and chooses the revision.
func (c *Controller) want(snapshot child.Snapshot, rollout health.Rollout) (wanted, error) {
	application := snapshot.Application
	if undecodable := validation.Undecodable(application.DecodeErrors); len(undecodable) > 0 {
		// Part of the spec is unknown, so nothing can be said about the class either.
		c.grants.forget(cache.MetaObjectToName(application))
		return wanted{class: application.Status.Class, invalid: undecodable}, nil
	}
	resolved, err := c.resolve(application)
	if err != nil {
		return wanted{}, err
	}
	w := wanted{class: resolved.Applied}
	if w.invalid, w.invalidReason = resolved.Validate(c.Validation); len(w.invalid) > 0 {
		c.grants.forget(cache.MetaObjectToName(application))
		return w, nil
	}
	w.invalid, err = c.grants.take(application)
	if err != nil || len(w.invalid) > 0 {
		w.invalidReason = v1.ReasonRouteConflict
		return w, err
	}
	if w.choice, err = c.choose(snapshot, rollout, resolved); err != nil {
		return wanted{}, err
	}
	w.invalid, w.invalidReason = w.choice.Invalid, w.choice.InvalidReason
	return w, nil
}
