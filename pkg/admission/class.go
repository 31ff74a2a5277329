// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/class"
)

// Classes are the stored ApplicationClasses and who has them: informer.Informers.
type Classes interface {
	// Classes returns all of them.
	Classes() ([]*v1.ApplicationClass, error)
	// OfClass returns the Applications that name the class; for "" those that name none.
	OfClass(name string) ([]*v1.Application, error)
}

// withClasses adds to a Config what classes decide.
func withClasses(config Config) Config {
	config.Defaulters = append([]Defaulter{stampClass(config.Classes)}, config.Defaulters...)
	if config.Validate == nil {
		config.Validate = validateInClass(config.Classes, config.Validation)
	}
	return config
}

// stampClass writes the name of the default class, so that the Application keeps its class when
// another one becomes the default. Where the webhooks are off, the sync takes the default of the day.
func stampClass(classes Classes) Defaulter {
	return func(application *v1.Application) {
		if application.Spec.ClassName != "" {
			return
		}
		all, err := classes.Classes()
		if err != nil {
			return // The sync finds the default.
		}
		if chosen := class.Default(all); chosen != nil {
			application.Spec.ClassName = chosen.Name
		}
	}
}

// validateInClass applies the rules of the sync, with the defaults and limits of the class. A class
// that does not exist is refused by the sync alone: whoever applies a directory should not have to
// mind the order of its files.
func validateInClass(classes Classes, options validation.Options) func(*v1.Application) (field.ErrorList, error) {
	return func(application *v1.Application) (field.ErrorList, error) {
		all, err := classes.Classes()
		if err != nil {
			return nil, fmt.Errorf("list ApplicationClasses: %w", err)
		}
		errs, reason := class.Resolve(application, all).Validate(options)
		if reason == v1.ReasonClassNotFound {
			return nil, nil
		}
		return errs, nil
	}
}
