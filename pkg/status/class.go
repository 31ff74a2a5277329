// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"

// appliedClass is what the sync found out about the class. At the end of an Application nobody looks
// for its class any more, and what the last sync said stays.
func appliedClass(in Input) *v1.AppliedClass {
	if in.deleting() {
		return boundedClass(in.Snapshot.Application.Status.Class.DeepCopy())
	}
	return boundedClass(in.Class.DeepCopy())
}
