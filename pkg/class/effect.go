// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

// Effect is the effect of a changed class on one Application. The zero value means that its children stay as they are.
type Effect struct {
	// Stalls are the errors with which the sync will refuse the Application. Nothing else of it changes then.
	Stalls field.ErrorList
	// Stays are the errors of an Application that the sync refuses before the change and after it.
	Stays field.ErrorList
	// Unchanged means that the change altered neither Stays nor the rule that they are about.
	Unchanged bool
	// Recovers means that the Application was stalled because of its class, and is not any more. The sync carries out its spec, whatever
	// differs from its children.
	Recovers bool
	// NewPods means that the pods change, NewDefaults that anything else does but for what is below.
	NewPods, NewDefaults bool
	// NewRoutes means that the Ingresses or HTTPRoutes change, such as their TLS.
	NewRoutes bool
	// NewPolicy is the NetworkPolicy that the Application gets instead of none, or of another one. It replaces no pod.
	NewPolicy *v1.NetworkPolicy
	// LosesPolicy means that the Application has no NetworkPolicy any more.
	LosesPolicy bool
}

// EffectOf returns the effect. samePods reports whether two specs ask for the same pods.
func EffectOf(application *v1.Application, before, after Rules, options validation.Options, samePods func(a, b *v1.ApplicationSpec) bool) Effect {
	if application.Spec.ReconcilePolicy == v1.ReconcileSuspend || application.DeletionTimestamp != nil {
		return Effect{}
	}
	was, is := Resolve(application, before), Resolve(application, after)
	if errs, reason := is.Validate(options); len(errs) > 0 {
		switch errsBefore, _ := was.Validate(options); {
		case len(errsBefore) == 0:
			return Effect{Stalls: errs}
		case !slices.EqualFunc(errs, errsBefore, isSameError):
			return Effect{Stays: errs}
		case reason == v1.ReasonInvalid:
			return Effect{}
		case !equality.Semantic.DeepEqualWithNilDifferentFromEmpty(was.refusing(before), is.refusing(after)):
			return Effect{Stays: errs} // After a repair that missed this limit, silence would read as success.
		default:
			return Effect{Stays: errs, Unchanged: true}
		}
	}
	if application.Spec.ReconcilePolicy == v1.ReconcileObserve {
		return Effect{} // The children stay as they are.
	}
	isRefused := was.isRefused(options)
	isWaiting := was.refusal != nil && was.refusal.reason == v1.ReasonClassNotFound
	if (isRefused || isWaiting) && application.Status.Revision == nil {
		return Effect{Recovers: isRefused} // It has been so since its creation, so it has no children yet.
	}
	effect := Effect{Recovers: isRefused}
	specBefore, spec := was.inEffect(isRefused).Spec, is.Application.Spec
	if !equality.Semantic.DeepEqual(specBefore.NetworkPolicy, spec.NetworkPolicy) {
		effect.NewPolicy, effect.LosesPolicy = spec.NetworkPolicy, spec.NetworkPolicy == nil
	}
	if isRefused {
		return effect
	}
	effect.NewRoutes = !equality.Semantic.DeepEqual(specBefore.Routes, spec.Routes)
	specBefore.NetworkPolicy, spec.NetworkPolicy, specBefore.Routes, spec.Routes = nil, nil, nil, nil
	if !equality.Semantic.DeepEqual(specBefore, spec) {
		effect.NewPods = !samePods(&specBefore, &spec)
		effect.NewDefaults = !effect.NewPods
	}
	return effect
}

func isSameError(a, b *field.Error) bool { return a.Error() == b.Error() }

// refusing returns the part of the class that can refuse the Application: the limits, or the selector of a class that does not
// select the namespace.
func (r Resolution) refusing(rules Rules) *v1.ApplicationClassSpec {
	if r.class != nil {
		return &v1.ApplicationClassSpec{Limits: r.class.Spec.Limits}
	}
	for _, class := range rules.Classes {
		if class.Name == r.given.Spec.ClassName {
			return &v1.ApplicationClassSpec{NamespaceSelector: class.Spec.NamespaceSelector}
		}
	}
	return nil
}

// isRefused reports whether the sync refuses the Application because of its class. To ask its conditions first spares the validation of the
// others.
func (r Resolution) isRefused(options validation.Options) bool {
	if !meta.IsStatusConditionTrue(r.given.Status.Conditions, v1.ConditionStalled) {
		return false
	}
	errs, _ := r.Validate(options)
	return len(errs) > 0
}

// inEffect returns the Application with the defaults that its children have. While it is refused, those are the defaults in
// its status: the sync keeps the children. An Application that has never taken a class has none of its defaults.
func (r Resolution) inEffect(isRefused bool) *v1.Application {
	applied := r.given.Status.Class
	isUnknown := applied != nil && applied.DefaultsOmitted
	if isUnknown || !isRefused {
		return r.Application
	}
	if applied == nil {
		return r.given
	}
	merged, _ := Merge(r.given, applied.Defaults)
	return merged
}
