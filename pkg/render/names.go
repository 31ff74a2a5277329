// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

const (
	// maxNameLength is the length of a DNS label, so that the name of every child is valid as a label.
	maxNameLength = 63
	// suffixLength is the number of hex digits of a hash in a name: 40 bits, so that a collision is practically
	// impossible even among a million names of one namespace.
	suffixLength = 10
)

// ConfigMapName returns the name of the ConfigMap with the files of spec.config.
func ConfigMapName(app *v1.Application) string {
	return nameWithSuffix(app.Name, "config")
}

// RouteName returns the name of the Ingress or HTTPRoute for spec.routes[i]. The first route has the name of the
// Application, so that the usual single route needs no second name.
func RouteName(app *v1.Application, i int) string {
	if i == 0 {
		return app.Name
	}
	return nameWithSuffix(app.Name, app.Spec.Routes[i].Name)
}

// RedirectName returns the name of the HTTPRoute that redirects to the one of spec.routes[i]. Validation ensures that
// no other route has it.
func RedirectName(app *v1.Application, i int) string {
	return nameWithSuffix(app.Name, v1.RedirectName(app.Spec.Routes, i))
}

// ServiceAccountName returns the name of the pods' ServiceAccount: the one in the spec, or the Application's own.
func ServiceAccountName(app *v1.Application) string {
	if account := app.Spec.ServiceAccount; account != nil && account.Name != "" {
		return account.Name
	}
	return app.Name
}

// nameWithSuffix joins the name of the Application and a suffix by a hyphen. A name that is too long is cut and gets
// a hash of both parts with their lengths. So two pairs keep different names even if they are cut to the same
// beginning, or differ only in the place of the hyphen.
func nameWithSuffix(name, suffix string) string {
	joined := name + "-" + suffix
	if len(joined) <= maxNameLength {
		return joined
	}
	return cut(joined) + "-" + shortHash(name, suffix)
}

// cut shortens s so that a hyphen and a hash fit after it, and removes hyphens and dots from its end.
func cut(s string) string {
	if most := maxNameLength - 1 - suffixLength; len(s) > most {
		s = s[:most]
	}
	return strings.TrimRight(s, "-.")
}

// shortHash returns a hash of the parts that fits into a name.
func shortHash(parts ...string) string {
	return child.HashOf(parts...)[:suffixLength]
}
