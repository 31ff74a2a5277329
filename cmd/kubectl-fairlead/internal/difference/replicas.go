// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// describeIn is Describe with what becomes of the number of pods: one that Fairlead no longer sets is not removed from the Deployment.
func describeIn(d preview.Difference, c preview.Child, change preview.Change) string {
	if c.Kind != child.Deployment.Kind || c.Action != preview.Update || change.Path != ".spec.replicas" || change.After != nil {
		return Describe(change)
	}
	switch pods := d.Pods; {
	case pods.After != nil:
		return fmt.Sprintf("%s: %s → %d, from where it is left %s", change.Path, value(change.Before), *pods.After, leftTo(d))
	case staysAt(pods):
		return fmt.Sprintf("%s: stays %s, and is left %s", change.Path, value(change.Before), leftTo(d))
	default:
		return fmt.Sprintf("%s: no longer set (before: %s), but left %s", change.Path, value(change.Before), leftTo(d))
	}
}

// staysAt reports whether the Deployment has the number of pods already with which an autoscaler or a user goes on.
func staysAt(pods preview.Pods) bool {
	return pods.Before != nil && pods.Asked != nil && *pods.Before == *pods.Asked
}

// leftTo says who decides the number of pods that Fairlead no longer sets.
func leftTo(d preview.Difference) string {
	if d.Pods.Autoscaled || slices.ContainsFunc(d.Children, func(c preview.Child) bool {
		return c.Kind == child.HorizontalPodAutoscaler.Kind && c.Action != preview.Delete
	}) {
		return "to the autoscaler"
	}
	return "to the autoscaler or to you"
}
