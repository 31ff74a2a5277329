// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// recheckOwner marks the steps that repair what may be the work of the garbage collector: a child that is missing, or
// one that does not name its owner. Each kind has its own watch, so the caches may show that before they show the end
// of the Application. A repair would then recreate a deleted child for a moment, or return the ownerReference to a child that
// kubectl delete --cascade=orphan left behind, and the garbage collector would delete it. It would delete an adopted
// object as well.
func recheckOwner(application *v1.Application, steps []Step) {
	for i := range steps {
		step := &steps[i]
		step.RecheckOwner = step.Action == Create && step.Drift ||
			step.Action == Apply && !child.OwnedBy(step.Live, application) ||
			step.Action == Adopt
	}
}
