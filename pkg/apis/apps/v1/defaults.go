// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// SetDefaults writes into the spec what must be stored there, before the schema looks at it. It is
// pure, and doing it twice changes nothing more. The defaults of the CRD are not repeated here.
//
// What follows from other fields is not stored: it would outlive them. A probe without a port means
// the primary port whatever it is called tomorrow; stored, the name of today would refer to nothing
// after a renaming, and nobody could tell it from one that a person chose. The rendering resolves it.
func SetDefaults(application *Application) {
	for _, set := range []func(*ApplicationSpec){
		lowerHostnames,
		leadRoutePaths,
		leadProbePaths,
	} {
		set(&application.Spec)
	}
}

// lowerHostnames: DNS does not mind the case, but an Ingress does. What is no host name stays as the user typed it, for
// the message that refuses it.
func lowerHostnames(spec *ApplicationSpec) {
	for i := range spec.Routes {
		for j, hostname := range spec.Routes[i].Hostnames {
			if lower := strings.ToLower(hostname); isHostname(lower) {
				spec.Routes[i].Hostnames[j] = lower
			}
		}
	}
}

func isHostname(name string) bool {
	if strings.HasPrefix(name, "*") {
		return len(validation.IsWildcardDNS1123Subdomain(name)) == 0
	}
	return len(validation.IsDNS1123Subdomain(name)) == 0
}

// leadRoutePaths: the schema refuses a path without its slash. An empty one is the schema's to
// default.
func leadRoutePaths(spec *ApplicationSpec) {
	for i := range spec.Routes {
		for j := range spec.Routes[i].Paths {
			lead(&spec.Routes[i].Paths[j].Path)
		}
	}
}

// leadProbePaths stores what the rendering sends anyway, so that what is read is what is asked for.
func leadProbePaths(spec *ApplicationSpec) {
	for _, probe := range []*Probe{spec.LivenessProbe, spec.ReadinessProbe, spec.StartupProbe} {
		if probe != nil && probe.HTTPGet != nil {
			lead(&probe.HTTPGet.Path)
		}
	}
}

// lead puts a slash before a path that is neither empty nor has one.
func lead(path *string) {
	if *path != "" && !strings.HasPrefix(*path, "/") {
		*path = "/" + *path
	}
}
