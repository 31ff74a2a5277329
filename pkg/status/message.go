// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
)

// bounded truncates a message between two characters.
func bounded(message string) string { return text.Truncate(message, maxMessage) }

// invalidMessage names the first few errors of the spec. What to do is often at the end of an error, so few of them have more room each.
func invalidMessage(errors field.ErrorList) string {
	const most, around = 5, 40 // around is for what stands between the errors, and how many more there are.
	each := (maxMessage - around) / max(1, min(most, len(errors)))
	parts := make([]string, 0, most+1)
	for i, err := range errors {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(errors)-most))
			break
		}
		parts = append(parts, text.Truncate(err.Error(), each))
	}
	return strings.Join(parts, "; ")
}

// about puts the name of a child before a message that does not begin with it.
func about(ref child.Ref, message string) string {
	subject := ref.Kind.Kind + " " + ref.Name
	if strings.HasPrefix(message, subject+" ") {
		return message
	}
	return subject + ": " + message
}

// sentence lists the first of the names; "" if there are none.
func sentence(begin string, names []string) string {
	const most = 5
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	if len(names) == 0 {
		return ""
	}
	return begin + strings.Join(names, ", ") + "."
}

// validReason is the pattern of metav1.Condition.reason.
var validReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// reasonOf returns a valid reason for a condition. The API server would refuse the whole status because of an invalid
// one.
func reasonOf(reason string) string {
	if len(reason) > maxReason || !validReason.MatchString(reason) {
		return v1.ReasonUnknown
	}
	return reason
}
