// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"slices"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// releasedForGood names the children that were released while deletionPolicy was Orphan, and that nothing takes back: Fairlead has removed
// its finalizer.
func (f facts) releasedForGood() (names []string) {
	if f.app.Spec.DeletionPolicy == v1.DeletionOrphan || slices.Contains(f.app.Finalizers, v1.FinalizerOrphan) {
		return nil
	}
	for _, live := range f.Children {
		if child.OwnedBy(live, f.app) && !child.Collectable(live, f.app) && live.GetDeletionTimestamp() == nil {
			names = append(names, strings.ToLower(live.GetObjectKind().GroupVersionKind().Kind)+"/"+live.GetName())
		}
	}
	slices.Sort(names)
	return names
}
