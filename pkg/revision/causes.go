// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"

// CausedByRevision reports whether the revision is why the pods do not serve, so that another revision may help. The worst
// problem decides: a revision that crashes is rolled back although some of its pods have no node. Reasons that are not
// listed are the cluster's.
func CausedByRevision(reason string) bool {
	switch reason {
	case
		v1.ReasonImagePullFailed,  // another image, or its name is wrong
		v1.ReasonConfigError,      // it refers to a key that is not there
		v1.ReasonInitFailed,       // its init container fails
		v1.ReasonStartFailed,      // its command does not exist
		v1.ReasonCrashLooping,     // it crashes
		v1.ReasonReadinessFailing: // it runs, and is never ready
		return true
	case
		v1.ReasonUnschedulable,     // no node has room, or none that fits is there yet
		v1.ReasonQuotaExceeded,     // the namespace is full
		v1.ReasonPolicyDenied,      // admission refuses pods, often because of a new policy
		v1.ReasonReplicaFailure,    // pods cannot be made for another reason
		v1.ReasonVolumeNotMounting, // storage or network of the node
		v1.ReasonNodeLost,
		v1.ReasonPodRejected,
		v1.ReasonEvicted:
		return false
	default:
		return false
	}
}
