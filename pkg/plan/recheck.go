// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "fairlead.dev/fairlead/pkg/child"

// recheckOwner marks the steps that must not rely on the cached Application. Each kind has its own watch, and the API
// server that answers a watch may lag behind the one that carries out the writes.
//
//   - A repair of what may be the work of the garbage collector: a child that is missing, or one that does not name its
//     owner. The caches may show that before they show the end of the Application. A repair would then recreate a deleted
//     child for a moment, or return the ownerReference to a child that kubectl delete --cascade=orphan left behind, and the
//     garbage collector would delete it. The same goes for an adoption.
//   - A delete. The Application may ask for the child again. A ControllerRevision is an exception: each use changes its
//     resourceVersion, which the delete names.
//   - A change while the Application is unconfirmed. A process that has just started, or begun to lead, may have listed a
//     spec that is older than the one of the last writes. An apply carries no resourceVersion, and would restore it.
func recheckOwner(in Input, steps []Step) {
	for i := range steps {
		step := &steps[i]
		switch step.Action {
		case Create:
			step.RecheckOwner = step.Drift
		case Adopt:
			step.RecheckOwner = true
		case Apply:
			step.RecheckOwner = !in.Confirmed || !child.OwnedBy(step.Live, in.Snapshot.Application)
		case Scale:
			step.RecheckOwner = !in.Confirmed
		case Delete:
			step.RecheckOwner = step.Ref.Kind != child.ControllerRevision
		}
	}
}
