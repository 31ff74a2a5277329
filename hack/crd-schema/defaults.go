// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// ownDefaults corrects what Kubernetes' types say about a default that is another one in an Application. kubectl explain shows
// the description of a field alone, without the description of the field above it.
func ownDefaults(path string, schema node) error {
	below := children(schema)
	for name, property := range below {
		if err := ownDefaults(path+"."+name, property); err != nil {
			return err
		}
	}
	if below["maxSurge"] == nil || below["maxUnavailable"] == nil { // the rollingUpdate of a DeploymentStrategy
		return nil
	}
	const theirs, ours = "Defaults to 25%.", "Defaults to 0, or to 1 if maxSurge is 0."
	description, _ := below["maxUnavailable"]["description"].(string)
	if strings.Count(description, theirs) != 1 {
		return fmt.Errorf("%s.maxUnavailable: the description does not say %q", path, theirs)
	}
	below["maxUnavailable"]["description"] = strings.Replace(description, theirs, ours, 1)
	return nil
}
