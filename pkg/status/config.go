// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// summarizeMissing is the summary while the pods need what is not there. It tells why no pods start,
// where the pods themselves could not even be asked. Nothing stalls: a Secret often comes a moment
// after who needs it, and then everything goes on by itself.
func summarizeMissing(in Input) summary {
	return summary{reconciling: true, reason: v1.ReasonConfigMissing, message: text.Capitalize(text.Sentence(in.Missing))}
}

// configFollowed is there where a change of configuration that should replace pods does not.
func configFollowed(in Input) (metav1.Condition, bool) {
	if !in.planned() {
		return previous(in, v1.ConditionConfigWatched)
	}
	if in.Unfollowed == "" {
		return metav1.Condition{}, false
	}
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1.ReasonConfigNotReadable, Message: text.Capitalize(text.Sentence(in.Unfollowed))}, true
}
