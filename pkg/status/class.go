// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"

// appliedClass returns the class that is applied. While the Application is refused or being deleted, the children stay as
// they are, and so does their class.
func appliedClass(in Input) *v1.AppliedClass {
	if in.deleting() || len(in.Invalid) > 0 {
		return boundedClass(in.Snapshot.Application.Status.Class.DeepCopy())
	}
	return boundedClass(in.Class.DeepCopy())
}

// refusedClass returns the class that is not applied, because the Application breaks its rules; nil if there is none.
func refusedClass(in Input) *v1.RefusedClass {
	applied := in.Snapshot.Application.Status.Class
	switch {
	case in.deleting(), len(in.Invalid) == 0, in.Class == nil:
		return nil
	case applied != nil && applied.Name == in.Class.Name && applied.Generation == in.Class.Generation:
		return nil
	default:
		return &v1.RefusedClass{Name: in.Class.Name, Generation: in.Class.Generation}
	}
}
