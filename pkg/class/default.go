// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// IsMarkedDefault tells whether the class asks to be the default. Of several that ask, Default
// chooses.
func IsMarkedDefault(class *v1.ApplicationClass) bool {
	return class.Annotations[v1.AnnotationDefaultClass] == "true" && class.DeletionTimestamp == nil
}

// Default returns the class of Applications that name none, or nil. Of several that are marked it
// is the one that was created last, as among StorageClasses: whoever made it meant to replace the
// other one. Of those created in one second it is the first by name.
func Default(classes []*v1.ApplicationClass) *v1.ApplicationClass {
	var chosen *v1.ApplicationClass
	for _, class := range classes {
		if IsMarkedDefault(class) && (chosen == nil || newer(class, chosen)) {
			chosen = class
		}
	}
	return chosen
}

func newer(a, b *v1.ApplicationClass) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return cmp.Less(a.Name, b.Name)
}
