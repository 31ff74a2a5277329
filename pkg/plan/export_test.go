// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "fairlead.dev/fairlead/pkg/child"

// FastEqual is the quick answer of Compare, and Merge the thorough one.

func (d Differ) FastEqual(desired child.Desired, live child.Object) bool {
	return d.read().schemas.fastEqual(desired, live)
}

func (d Differ) Merge(desired child.Desired, live child.Object) (Difference, error) {
	return d.read().merge(desired, live)
}
