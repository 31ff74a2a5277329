// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/text"
)

// RollsOut reports whether the change rolls out a pod template, or lets a paused rollout go on.
func RollsOut(d preview.Difference) bool {
	return d.Pods.Replaced || d.Pods.Held > 0 || d.Pods.Started > 0
}

// Grows reports whether pods start because the desired number of them grows. It does so while rollouts are paused, too.
func Grows(d preview.Difference) bool {
	before, after := d.Pods.Before, d.Pods.After
	return d.Pods.Stopped == "" && !d.Pods.Unlisted && !isForeign(d) && before != nil && after != nil && *after > *before
}

// NeedsPods reports whether the change needs pods that the API server must accept. It needs none if enough run that have its template.
func NeedsPods(d preview.Difference) bool {
	return Grows(d) || RollsOut(d) && !allKept(d.Pods) && !enoughKept(d.Pods)
}

// StartsPods reports whether new pods start, which a missing ConfigMap or Secret holds up.
func StartsPods(d preview.Difference) bool { return RollsOut(d) || Grows(d) }

// GoesOnWaiting is the sentence about an edit that changes no pod template itself, while an earlier change of it waits: for a ConfigMap or
// Secret, which missing describes, or for a child that Fairlead leaves alone. In the latter case the number of pods waits too.
func GoesOnWaiting(d preview.Difference, missing string) string {
	earlier := because(d.Pods)
	d.Pods.Replaced, d.Pods.Because = false, nil
	if after := d.Pods.After; after != nil && *after == 0 && !Withheld(d) {
		return Sentence(d)
	}
	said := Headline(d)
	if Withheld(d) {
		said = "no pod changes." + pinned(d.Pods)
	}
	said += " The earlier change of the pods (" + earlier + ") goes on waiting"
	if missing == "" {
		return withBlocked(text.Capitalize(said+"."), d)
	}
	return withBlocked(text.Capitalize(said+": "+missing), d)
}
