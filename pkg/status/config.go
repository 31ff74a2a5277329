// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// summarizeMissing is the summary while an object that the pods need is missing. It explains why no pods start. It is
// not Stalled: a Secret often follows its user in a moment, and then the rollout continues.
func summarizeMissing(in Input) summary {
	return summary{reconciling: true, reason: v1.ReasonConfigMissing, message: text.Capitalize(text.Sentence(in.Missing))}
}

// configWatched is present while a change of configuration that should roll the pods would not.
func configWatched(in Input) (metav1.Condition, bool) {
	if !in.planned() {
		return previous(in, v1.ConditionConfigWatched)
	}
	if in.Unwatched == "" {
		return metav1.Condition{}, false
	}
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1.ReasonConfigNotReadable, Message: text.Capitalize(text.Sentence(in.Unwatched))}, true
}
