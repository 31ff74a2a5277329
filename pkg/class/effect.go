// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

// Effect is the effect of a changed class on one Application.
type Effect int

const (
	// NoEffect means that the children stay as they are.
	NoEffect Effect = iota
	// NewDefaults means that the children change, and possibly the pods.
	NewDefaults
	// Stalls means that the sync will refuse the Application.
	Stalls
)

// EffectOf returns the effect, and for Stalls the errors. Errors that existed before are no effect.
func EffectOf(application *v1.Application, before, after Rules, options validation.Options) (Effect, field.ErrorList) {
	if application.Spec.ReconcilePolicy == v1.ReconcileSuspend || application.DeletionTimestamp != nil {
		return NoEffect, nil
	}
	was, is := Resolve(application, before), Resolve(application, after)
	if errs, _ := is.Validate(options); len(errs) > 0 {
		if errsBefore, _ := was.Validate(options); len(errsBefore) > 0 {
			return NoEffect, nil
		}
		return Stalls, errs
	}
	if equality.Semantic.DeepEqual(was.Application.Spec, is.Application.Spec) {
		return NoEffect, nil
	}
	return NewDefaults, nil
}
