// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"regexp"
	"strings"

	"fairlead.dev/fairlead/pkg/text"
)

// refusedReplicaSet is what the Deployment controller puts before the API server's message, and the beginning of that.
var refusedReplicaSet = regexp.MustCompile(`^Failed to create new replica set "([^"]*)": (replicasets\.apps "[^"]*" is forbidden: )?`)

// overLimit is what the API server says of a request above its limit. Fairlead compares the requests of a spec with its limits, so the limit
// is of another object.
var overLimit = regexp.MustCompile(`must be less than or equal to \S+ limit of \S+`)

// limitOfOthers says where such a limit comes from, and what to do about it.
const limitOfOthers = " (a LimitRange may set that limit: set resources.limits)"

// setByPodSecurity is what a violation of Pod Security asks a container to set. There is one for each violation.
var setByPodSecurity = regexp.MustCompile(` \([^()]*\)`)

// CreationFailure is the message of a problem whose pods the API server refuses to create. It stays the same at each attempt.
func CreationFailure(message string) string {
	message = text.WithoutPodName(refusedReplicaSet.ReplaceAllString(message, "ReplicaSet $1: "))
	if overLimit.MatchString(message) && !strings.HasSuffix(message, limitOfOthers) {
		return text.Sanitize(message, MaxProblemMessage-len(limitOfOthers)) + limitOfOthers
	}
	if strings.HasPrefix(message, "violates PodSecurity ") && len(message) > MaxProblemMessage {
		message = setByPodSecurity.ReplaceAllString(message, "") // Each violation says more than how to end one of them.
	}
	return sanitize(message)
}
