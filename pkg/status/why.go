// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// The column WHY of kubectl get has room for maxSummary characters, and REASON and AVAILABLE stand beside it. So it begins
// with the cause, and leaves out how many pods are concerned and what the reason says. The message of Ready has all of it.

var (
	// The scheduler begins with a count of the nodes, and ends with why preemption does not help.
	nodesPrefix = regexp.MustCompile(`^\d+/\d+ nodes are available: `)
	// A request above a limit, which is not the Application's.
	overLimit = regexp.MustCompile(`Invalid value: "([^"]*)": must be less than or equal to (\S+) limit of ([^\s,\]]+)`)
	// An admission webhook or policy, or Pod Security, names itself before its objection.
	policyPrefix = regexp.MustCompile(`^.*?(denied the request: |denied request: |violates PodSecurity "[^"]*": )`)
)

// why is the summary for the column WHY.
func (s summary) why() string {
	if s.cause == "" {
		return text.Shorten(s.message, maxSummary)
	}
	return text.Shorten(s.cause, maxSummary)
}

// whyPods is the cause of a problem. It names the container, unless that is the application's own.
func whyPods(problem *v1.Problem, application string) string {
	subject := ""
	if problem.Container != "" && problem.Container != application {
		subject = problem.Container + ": "
	}
	return subject + whyObject(problem.Reason, problem.Message, maxSummary-len([]rune(subject)))
}

// whyObject is the cause in a message of another component, in at most limit characters if possible.
func whyObject(reason, message string, limit int) string {
	switch reason {
	case v1.ReasonImagePullFailed, v1.ReasonStartFailed:
		return innermost(message, limit)
	case v1.ReasonUnschedulable:
		message = nodesPrefix.ReplaceAllString(message, "")
	case v1.ReasonPolicyDenied:
		message = policyPrefix.ReplaceAllString(message, "")
	case v1.ReasonReplicaFailure:
		if match := overLimit.FindStringSubmatch(message); match != nil {
			return fmt.Sprintf("%s request %s exceeds the limit of %s", match[2], match[1], match[3])
		}
		message = strings.TrimPrefix(message, "the pod is invalid: ")
	}
	if end := strings.Index(message, ". "); end > 0 && end < limit {
		message = message[:end+1]
	}
	return message
}

// whyBlocked is the cause of children that are blocked for the same reason; "" if their message begins with it.
func whyBlocked(same []assessment) string {
	first := same[0]
	if first.reason == v1.ReasonConflict || len(same) > 1 {
		return ""
	}
	subject := first.Ref.Kind.Kind + " " + first.Ref.Name + ": "
	return subject + whyObject(first.reason, first.message, maxSummary-len([]rune(subject)))
}

// innermost returns the end of a message that callers wrapped by writing before it: as many parts as fit.
func innermost(message string, limit int) string {
	whole := []rune(message)
	for rest := message; ; {
		if n := len([]rune(rest)); n <= limit {
			if n == len(whole) || n > limit/2 {
				return rest
			}
			// The part before it does not fit, but its end says more, such as the tag of an image.
			return "…" + strings.TrimLeft(string(whole[max(0, len(whole)-limit+1):]), " .")
		}
		_, after, found := strings.Cut(rest, ": ")
		if !found {
			return rest
		}
		rest = after
	}
}

// whyInvalid is the first error of a spec, without the value, which the user wrote. A limit of the class is at the end of
// its message.
func whyInvalid(errs field.ErrorList) string {
	err := errs[0]
	path := strings.TrimPrefix(err.Field, "spec.")
	detail := strings.Replace(err.Detail, v1.ApplicationClassKind+" ", "class ", 1)
	switch {
	case err.Type == field.ErrorTypeNotFound:
		return fmt.Sprintf("%s: %v does not exist", path, err.BadValue)
	case err.Type == field.ErrorTypeInvalid && err.Detail != "", err.Type == field.ErrorTypeForbidden && err.Detail != "":
		return path + ": " + detail
	default:
		return path + ": " + err.ErrorBody()
	}
}

// whyRolledBack names the revision that failed and the reason. cause begins with the reason.
func whyRolledBack(numbers *v1.RevisionStatus, cause string) string {
	if numbers == nil || numbers.RolledBackFrom == 0 || cause == "" {
		return ""
	}
	reason, _, _ := strings.Cut(strings.TrimSuffix(cause, "."), ": ")
	return fmt.Sprintf("Revision %d failed with %s; %d runs instead.", numbers.RolledBackFrom, reason, numbers.Current)
}
