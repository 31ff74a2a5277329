// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
)

// Classes are the cached ApplicationClasses and their Applications: informer.Informers.
type Classes interface {
	// Classes returns all of them.
	Classes() ([]*v1.ApplicationClass, error)
	// OfClass returns the Applications that name the class; for "" those that name none.
	OfClass(name string) ([]*v1.Application, error)
	// Application returns a stored Application, if it is cached.
	Application(name cache.ObjectName) (*v1.Application, bool, error)
	// NamespaceLabels returns the labels of a namespace, if they are known without asking the API server.
	NamespaceLabels(name string) (labels map[string]string, found bool)
}

// withClasses adds to a Config what classes decide.
func withClasses(config Config) Config {
	config.Defaulters = append([]Defaulter{setDefaultClass(config)}, config.Defaulters...)
	if config.Validate == nil {
		config.Validate = validateInClass(config)
	}
	return config
}

// setDefaultClass writes the name of the default class, so that the Application keeps its class when
// another one becomes the default. With the webhooks off, the sync uses the default of the moment.
func setDefaultClass(config Config) Defaulter {
	return func(ctx context.Context, application *v1.Application) {
		if application.Spec.ClassName != "" {
			return
		}
		rules, err := config.classRules(ctx, application.Namespace)
		if err != nil {
			return // The sync finds the default.
		}
		if chosen, _ := class.Default(rules.Classes, rules.Namespace); chosen != nil {
			application.Spec.ClassName = chosen.Name
		}
	}
}

// validateInClass applies the rules of the sync, with the defaults and limits of the class. Only the sync
// refuses a class that does not exist: see missingClass.
func validateInClass(config Config) func(context.Context, *v1.Application) (field.ErrorList, error) {
	return func(ctx context.Context, application *v1.Application) (field.ErrorList, error) {
		rules, err := config.classRules(ctx, application.Namespace)
		if err != nil {
			return nil, err
		}
		errs, reason := class.Resolve(application, rules).Validate(config.Validation)
		if reason == v1.ReasonClassNotFound {
			return nil, nil
		}
		return errs, nil
	}
}

// classRules returns what decides the class of an Application in the namespace. If the cache lacks the labels of the
// namespace, it reads them from the API server: the namespace may be as new as the Application.
func (c *Config) classRules(ctx context.Context, namespace string) (class.Rules, error) {
	all, err := c.Classes.Classes()
	if err != nil {
		return class.Rules{}, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	rules := class.Rules{Classes: all, Namespace: class.Namespace{Name: namespace}, Required: c.RequireClass}
	if !class.NeedsNamespace(all) {
		return rules, nil
	}
	labels, found := c.Classes.NamespaceLabels(namespace)
	if found {
		rules.Namespace.Labels = labels
		return rules, nil
	}
	read, err := c.Find(ctx, Reference{Kind: KindNamespace, Name: namespace})
	switch {
	case apierrors.IsForbidden(err):
		rules.Namespace.Unreadable = "the controller has no permission to get namespaces"
	case err != nil:
		return class.Rules{}, err
	case read == nil:
		return class.Rules{}, fmt.Errorf("namespace %q does not exist", namespace)
	default:
		rules.Namespace.Labels = read.Labels
	}
	return rules, nil
}
