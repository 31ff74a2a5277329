// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
)

// missingRequest finds the resource and the container in the message of an autoscaler whose target is a share of the requests.
var missingRequest = regexp.MustCompile(`missing request for (\S+) in container (\S+) of Pod`)

// setRequest says how a container gets the request without which the autoscaler computes nothing; "" of another message.
func (f facts) setRequest(message string) string {
	match := missingRequest.FindStringSubmatch(message)
	if match == nil {
		return ""
	}
	request, container := "resources.requests"+element(match[1]), match[2]
	if field := f.fieldOf(container); field != "" {
		return "Set " + field + "." + request + ": the target is a share of the requests of all containers."
	}
	return fmt.Sprintf("Container %s is not in the spec, so a webhook probably injects it: have that set its %s. "+
		"Or let the autoscaler measure container %s alone: replace the target by a ContainerResource metric in spec.autoscaling.metrics.", container, request, f.app.Name)
}
