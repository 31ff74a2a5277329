// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/class"
)

// Place is the file of the document, and its line.
func (d *Document) Place() string {
	if d.node == nil {
		return d.File
	}
	return fmt.Sprintf("%s:%d", d.File, d.node.Line)
}

// Twice returns a problem for each object that a file has a second time: the last one that is applied wins. Two files may be for two
// clusters, and a file that is given twice is no mistake.
func Twice(documents []*Document) []Problem {
	var problems []Problem
	first := map[string]*Document{}
	for _, d := range documents {
		if d.syntax != nil || !d.isKnown() || d.Name == "" {
			continue
		}
		key := d.File + ": " + d.Kind + "/" + d.Name
		if d.Kind == v1.ApplicationKind {
			key = d.File + ": " + d.Kind + "/" + d.namespace() + "/" + d.Name
		}
		before, twice := first[key]
		if !twice {
			first[key] = d
			continue
		}
		if before.node.Line == d.node.Line {
			continue
		}
		path := field.NewPath("metadata", "name")
		err := field.Duplicate(path, d.Name)
		err.Detail = fmt.Sprintf("this %s is at %s:%d too, and the one that is applied last wins: remove one of them", d.Kind, before.File, before.line(path.String()))
		problems = append(problems, d.problems(Together, field.ErrorList{err})...)
	}
	return problems
}

// claims checks the host names of an Application against those of the Applications that were checked before, as the webhook does
// when they are applied in this order.
func (c *Checker) claims(application *v1.Application) field.ErrorList {
	owners := validation.RouteOwners{
		HostClaims: func(host string) ([]v1.RouteClaim, error) {
			return c.claimsOf(application, func(_ *v1.Application, key v1.RouteKey) bool { return v1.HostsOverlap(key.Host, host) }), nil
		},
		RouteClaims: func(namespace string, asked v1.RouteKey) ([]v1.RouteClaim, error) {
			return c.claimsOf(application, func(a *v1.Application, key v1.RouteKey) bool { return a.Namespace == namespace && key == asked }), nil
		},
		Class: func(a *v1.Application) *v1.ApplicationClass { return class.Choose(a, c.rules(a)) },
	}
	errs, _ := validation.ValidateNewRoutes(application, nil, owners) // The claims above have no errors.
	for _, err := range errs {
		err.Detail = strings.Replace(err.Detail, "Application /", "Application ", 1)
	}
	c.earlier = append(c.earlier, application)
	return errs
}

// claimsOf are the matching claims of earlier Applications. Those of one without a namespace count for others without: where it
// goes, only the command says that applies it. One that is there twice is not held against itself.
func (c *Checker) claimsOf(application *v1.Application, matches func(*v1.Application, v1.RouteKey) bool) []v1.RouteClaim {
	var claims []v1.RouteClaim
	for _, earlier := range c.earlier {
		same := earlier.Namespace == application.Namespace
		if same && earlier.Name == application.Name || !same && (earlier.Namespace == "" || application.Namespace == "") {
			continue
		}
		for _, key := range earlier.RouteKeys() {
			if matches(earlier, key) {
				claims = append(claims, v1.RouteClaim{Application: earlier, Host: key.Host})
			}
		}
	}
	return claims
}

// rules are those by which the Application gets its class.
func (c *Checker) rules(application *v1.Application) class.Rules {
	rules := class.Rules{Classes: c.Classes, Namespace: c.Namespace}
	rules.Namespace.Name = cmp.Or(application.Namespace, c.Namespace.Name)
	return rules
}
