// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

// Resolution is an Application together with what its class makes of it.
type Resolution struct {
	// Application has the defaults of the class. It is the one that was given where it takes none.
	Application *v1.Application
	// Applied is what status tells about it; nil if no class applies.
	Applied *v1.AppliedClass

	given *v1.Application
	class *v1.ApplicationClass
}

// Resolve merges an Application with its class: the one that it names, else the default. classes
// are all that there are.
func Resolve(application *v1.Application, classes []*v1.ApplicationClass) Resolution {
	r := Resolution{Application: application, given: application, class: find(application.Spec.ClassName, classes)}
	if r.class == nil {
		return r
	}
	if len(r.class.DecodeErrors) > 0 {
		r.Applied = application.Status.Class // Part of what the class says is unknown, so nothing of it is applied.
		return r
	}
	merged, taken := Merge(application, r.class.Spec.Defaults)
	r.Application = merged
	r.Applied = &v1.AppliedClass{Name: r.class.Name, Generation: r.class.Generation, Defaults: taken}
	return r
}

func find(name string, classes []*v1.ApplicationClass) *v1.ApplicationClass {
	if name == "" {
		return Default(classes)
	}
	for _, class := range classes {
		if class.Name == name {
			return class
		}
	}
	return nil
}

// Missing tells that the Application names a class that does not exist.
func (r Resolution) Missing() bool { return r.class == nil && r.given.Spec.ClassName != "" }

// Validate returns everything that is wrong, and the reason as a condition tells it: Invalid,
// ClassNotFound, ClassLimitExceeded or ClassInvalid. Nothing wrong is an empty list.
func (r Resolution) Validate(options validation.Options) (field.ErrorList, string) {
	if undecodable := r.undecodable(); len(undecodable) > 0 {
		return undecodable, v1.ReasonClassInvalid
	}
	options.Class = r.class
	errs := validation.ValidateApplication(r.Application, options)
	switch {
	case len(errs) == 0 && r.Missing():
		path := field.NewPath("spec", "className")
		missing := field.NotFound(path, r.given.Spec.ClassName)
		missing.Detail = "there is no ApplicationClass of this name"
		return field.ErrorList{missing}, v1.ReasonClassNotFound
	case len(errs) == 0:
		return nil, ""
	case validation.OnlyExceedsClass(errs):
		return errs, v1.ReasonClassLimitExceeded
	case r.Application != r.given && r.validAlone(options):
		for _, err := range errs {
			err.Detail = fmt.Sprintf("with the defaults of ApplicationClass %q: %s", r.class.Name, err.Detail)
		}
		return errs, v1.ReasonClassInvalid
	default:
		return errs, v1.ReasonInvalid
	}
}

// ValidateAs is Validate for other pods than the Application asks for: limits of the class and all. It
// is for a former revision, which had the defaults of its time.
func (r Resolution) ValidateAs(application *v1.Application, options validation.Options) (field.ErrorList, string) {
	options.Class = r.class
	errs := validation.ValidateApplication(application, options)
	switch {
	case len(errs) == 0:
		return nil, ""
	case validation.OnlyExceedsClass(errs):
		return errs, v1.ReasonClassLimitExceeded
	default:
		return errs, v1.ReasonInvalid
	}
}

// undecodable says what in the class is not understood. Without its limits nothing is known to be allowed.
func (r Resolution) undecodable() field.ErrorList {
	if r.class == nil {
		return nil
	}
	errs := validation.Undecodable(r.class.DecodeErrors)
	for _, err := range errs {
		err.Detail = fmt.Sprintf("in ApplicationClass %q: %s", r.class.Name, err.Detail)
	}
	return errs
}

// validAlone tells whether the spec is valid as it is written, limits aside.
func (r Resolution) validAlone(options validation.Options) bool {
	errs := validation.ValidateApplication(r.given, options)
	return len(errs) == 0 || validation.OnlyExceedsClass(errs)
}
