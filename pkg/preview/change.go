// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// Of renders what a user would apply, and computes the effect. old is the Application as it is now, or nil if there is
// none. If the result is invalid, its rendering says why, and the difference is empty.
func Of(differ plan.Differ, old, applied *v1.Application, live child.Snapshot, platform Platform, now time.Time) (Rendering, Difference, error) {
	if old != nil {
		applied = overlay(old, applied)
	}
	after, err := Render(applied, live, platform, now)
	if err != nil || len(after.Invalid) > 0 {
		return after, Difference{}, err
	}
	var before Rendering
	if old != nil {
		if before, err = Render(old, live, platform, now); err != nil {
			return Rendering{}, Difference{}, err
		}
		before.notCarriedOut = enforced(after.Application) && (!enforced(old) || waits(old, before, live))
	}
	difference, err := Compare(differ, before, after, live)
	return after, difference, err
}

// overlay returns the old Application with what a user may set.
func overlay(old, applied *v1.Application) *v1.Application {
	merged := old.DeepCopy()
	merged.Spec, merged.Labels, merged.Annotations = applied.Spec, applied.Labels, applied.Annotations
	return merged
}

// waits reports whether the Deployment has another revision than the spec asks for, such as while a Secret is missing. The number of the
// latter is only known beside the history, which a user may be unable to read.
func waits(application *v1.Application, rendered Rendering, live child.Snapshot) bool {
	runs := application.Status.Revision
	live.Application = application
	if runs == nil || runs.Current == rendered.Revision {
		return false
	}
	return runs.Current == 0 || slices.ContainsFunc(history(live), func(r *appsv1.ControllerRevision) bool { return r.Revision == runs.Current })
}

func enforced(application *v1.Application) bool {
	return application.Spec.ReconcilePolicy == v1.ReconcileEnforce || application.Spec.ReconcilePolicy == ""
}
