// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

// Resolution is the result of applying a class to an Application.
type Resolution struct {
	// Application has the defaults of the class. If it took none, it is the given one.
	Application *v1.Application
	// Applied is the status of the class in the Application; nil if no class applies.
	Applied *v1.AppliedClass

	given   *v1.Application
	class   *v1.ApplicationClass
	refusal *refusal
}

// Rules decide, together with className, which class an Application has.
type Rules struct {
	// Classes are all classes of the cluster.
	Classes []*v1.ApplicationClass
	// Namespace is the namespace of the Application.
	Namespace Namespace
	// Required refuses an Application without a class.
	Required bool
}

// refusal is why an Application has no class that it may use.
type refusal struct {
	err    *field.Error
	reason string
}

// Resolve merges an Application with its class: the named one, or the default of its namespace.
func Resolve(application *v1.Application, rules Rules) Resolution {
	r := Resolution{Application: application, given: application}
	if r.class, r.refusal = rules.choose(application.Spec.ClassName); r.class == nil {
		return r
	}
	if len(r.class.DecodeErrors) > 0 {
		r.Applied = application.Status.Class // Part of the class is unknown, so none of it applies.
		return r
	}
	merged, taken := Merge(application, r.class.Spec.Defaults)
	r.Application = merged
	r.Applied = &v1.AppliedClass{Name: r.class.Name, Generation: r.class.Generation, Defaults: taken}
	return r
}

// Choose returns the class of an Application: the named one, or the default of its namespace. It is nil if there is none
// that may apply.
func Choose(application *v1.Application, rules Rules) *v1.ApplicationClass {
	class, _ := rules.choose(application.Spec.ClassName)
	if class == nil || len(class.DecodeErrors) > 0 {
		return nil
	}
	return class
}

func (r Rules) choose(name string) (*v1.ApplicationClass, *refusal) {
	if name == "" {
		return r.chooseDefault()
	}
	path := field.NewPath("spec", "className")
	for _, class := range r.Classes {
		if class.Name != name {
			continue
		}
		switch Selects(class, r.Namespace) {
		case Selected:
			return class, nil
		case Unknown:
			return nil, notSelected(path, fmt.Sprintf("ApplicationClass %q selects namespaces by their labels: %s", name, r.Namespace.Unreadable))
		default:
			return nil, notSelected(path, fmt.Sprintf("ApplicationClass %q does not select namespace %q: %s", name, r.Namespace.Name, r.otherClass()))
		}
	}
	missing := field.NotFound(path, name)
	missing.Detail = "there is no ApplicationClass of this name: name one that exists, or create it"
	return nil, &refusal{missing, v1.ReasonClassNotFound}
}

// otherClass says what to name instead of a class that does not select the namespace.
func (r Rules) otherClass() string {
	selects := func(class *v1.ApplicationClass) bool { return Selects(class, r.Namespace) == Selected }
	switch {
	case slices.ContainsFunc(r.Classes, selects):
		return "name a class that does"
	case r.Required:
		return noneSelects
	default:
		return noneSelects + orNoClass
	}
}

// NoneSelects reads these.
const noneSelects, orNoClass = "no class does; ask the platform team", ", or remove the field"

// NoneSelects reports whether no class selects the namespace, as the message of an error about the class says, and whether an Application may
// have no class.
func NoneSelects(message string) (none, mayHaveNone bool) {
	return strings.Contains(message, noneSelects), strings.Contains(message, noneSelects+orNoClass)
}

// originNotSelected marks the error about a named class that does not select the namespace.
const originNotSelected = "classNotSelected"

func notSelected(path *field.Path, detail string) *refusal {
	return &refusal{field.Forbidden(path, detail).WithOrigin(originNotSelected), v1.ReasonClassNotAllowed}
}

// OnlyNotSelected reports whether the error of a validation is that the named class does not select the namespace. Then it is the only one.
func OnlyNotSelected(errs field.ErrorList) bool {
	return len(errs) > 0 && errs[0].Origin == originNotSelected
}

// Selecting returns the rules as if the class selected the namespace.
func (r Rules) Selecting(name string) Rules {
	r.Classes = slices.Clone(r.Classes)
	for i, class := range r.Classes {
		if class.Name == name {
			selecting := *class
			selecting.Spec.NamespaceSelector = nil
			r.Classes[i] = &selecting
		}
	}
	return r
}

func (r Rules) chooseDefault() (*v1.ApplicationClass, *refusal) {
	path := field.NewPath("spec", "className")
	chosen, undecided := Default(r.Classes, r.Namespace)
	switch {
	case undecided != nil:
		return nil, &refusal{field.Forbidden(path, fmt.Sprintf("ApplicationClass %q is the default in namespaces that it selects by their labels: %s", undecided.Name, r.Namespace.Unreadable)), v1.ReasonClassNotAllowed}
	case chosen == nil && r.Required:
		return nil, &refusal{field.Required(path, fmt.Sprintf("no default ApplicationClass selects namespace %q: name a class that does", r.Namespace.Name)), v1.ReasonClassRequired}
	default:
		return chosen, nil
	}
}

// Validate returns all errors, and the reason for the condition: Invalid, or a reason about the class.
func (r Resolution) Validate(options validation.Options) (field.ErrorList, string) {
	if undecodable := r.undecodable(); len(undecodable) > 0 {
		return undecodable, v1.ReasonClassInvalid
	}
	options.Class = r.class
	errs := validation.ValidateApplication(r.Application, options)
	switch {
	case r.refusal != nil && (len(errs) == 0 || r.refusal.reason != v1.ReasonClassNotFound):
		// Without the class, all other errors are uncertain.
		return field.ErrorList{r.refusal.err}, r.refusal.reason
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

// ValidateAs is Validate with other pods than those in the spec, limits of the class included. It is for a former
// revision, which has the defaults of its time.
func (r Resolution) ValidateAs(application *v1.Application, options validation.Options) (field.ErrorList, string) {
	options.Class, options.FormerPods = r.class, true
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

// undecodable reports a class that does not decode. Without its limits nothing is known to be allowed.
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

// validAlone reports whether the spec is valid without the limits of the class.
func (r Resolution) validAlone(options validation.Options) bool {
	errs := validation.ValidateApplication(r.given, options)
	return len(errs) == 0 || validation.OnlyExceedsClass(errs)
}
