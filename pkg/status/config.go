// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// summarizeMissing is the summary while an object that the pods need is missing. It explains why no pods start. It is
// not Stalled: a Secret often follows its user in a moment, and then the rollout continues.
func summarizeMissing(in Input, p pods) summary {
	message := text.Capitalize(text.Sentence(in.Missing))
	return summary{reconciling: true, reason: v1.ReasonConfigMissing, message: whoseConfig(in, p) + message, cause: message}
}

// whoseConfig says which revision needs what is missing, if that is not the one of the spec: the spec may not name the object.
func whoseConfig(in Input, p pods) string {
	numbers, pin := in.Revision, in.Snapshot.Application.Spec.Rollback
	switch applied := p.isApplied(in); {
	case in.observing() && !applied:
		return "" // Nothing would go back.
	case numbers.RolledBackFrom > 0 && applied:
		return fmt.Sprintf("Revision %d runs instead of revision %d, which failed. ", numbers.Current, numbers.RolledBackFrom)
	case numbers.RolledBackFrom > 0: // Without the object it has a new number, which no revision has yet.
		return fmt.Sprintf("Revision %d failed. Fairlead goes back to revision %d, which waits: ", numbers.RolledBackFrom, numbers.LastHealthy)
	case pin == nil || pin.ToRevision == nil:
		return ""
	case applied:
		return fmt.Sprintf("Revision %d%s runs, as spec.rollback.toRevision asks. ", numbers.Current, samePodsAs(numbers.Current, *pin.ToRevision))
	default:
		return fmt.Sprintf("Revision %d, which spec.rollback.toRevision asks for, waits: ", *pin.ToRevision)
	}
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
