// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
)

// correction replaces what Kubernetes' types say about a field by what is true of an Application.
type correction struct {
	path         *regexp.Regexp
	theirs, ours string
}

// The defaults are those of pkg/render.
var corrections = []correction{
	{regexp.MustCompile(`\.rollingUpdate\.maxUnavailable$`), "Defaults to 25%.", "Defaults to 0, or to 1 if maxSurge is 0."},
	{regexp.MustCompile(`^spec\.securityContext\.readOnlyRootFilesystem$`), "Default is false.", "Defaults to true."},
	{
		regexp.MustCompile(`\.securityContext\.capabilities$`),
		"Defaults to the default set of capabilities granted by the container runtime.",
		"If drop is unset or empty, all capabilities are dropped.",
	},
	{
		regexp.MustCompile(`^spec\.podSecurityContext\.runAsNonRoot$`),
		"If unset or false, no such validation will be performed.",
		"Defaults to true. If false, no such validation will be performed.",
	},
	{
		regexp.MustCompile(`\.securityContext\.runAsNonRoot$`),
		"If unset or false, no such validation will be performed.",
		"If unset, the value of podSecurityContext applies, which is true by default. If false, no such validation will be performed.",
	},
	{
		regexp.MustCompile(`\.tolerations\..*\.operator$`), // Of a feature gate that is off by default. The webhook refuses them.
		"Valid operators are Exists, Equal, Lt, and Gt. Defaults to Equal.",
		"Valid operators are Exists and Equal. Defaults to Equal.",
	},
	{
		regexp.MustCompile(`\.tolerations\..*\.operator$`),
		" Lt and Gt perform numeric comparisons (requires feature gate TaintTolerationComparisonOperators).",
		"",
	},
	{
		regexp.MustCompile(`\.lifecycle\.stopSignal$`),
		"StopSignal can only be set for Pods with a non-empty .spec.os.name",
		"An Application cannot set it, because Kubernetes takes it only with the pod's os.name: use STOPSIGNAL of the image, or preStop.",
	},
}

// notUpdatable is true of a pod. Fairlead replaces the pods.
const notUpdatable = " Cannot be updated."

// correct corrects the descriptions of Kubernetes' types, whose lines are joined. kubectl explain shows the description of a field
// alone, without the description of the field above it.
func correct(path string, schema node) error {
	for name, property := range children(schema) {
		if err := correct(path+"."+name, property); err != nil {
			return err
		}
	}
	description, ok := schema["description"].(string)
	if !ok {
		return nil
	}
	description = strings.ReplaceAll(description, notUpdatable, "")
	for _, c := range corrections {
		if !c.path.MatchString(path) {
			continue
		}
		if strings.Count(description, c.theirs) != 1 {
			return fmt.Errorf("%s: the description does not say %q", path, c.theirs)
		}
		description = strings.Replace(description, c.theirs, c.ours, 1)
	}
	schema["description"] = description
	return nil
}
