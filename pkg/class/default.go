// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// IsMarkedDefault reports whether the class is marked as the default. Default chooses among several.
func IsMarkedDefault(class *v1.ApplicationClass) bool {
	return class.Annotations[v1.AnnotationDefaultClass] == "true" && class.DeletionTimestamp == nil
}

// Default returns the class of Applications in the namespace that name none, or nil. Among several that are marked and
// select the namespace it is the newest, as among StorageClasses: its author meant to replace the others. Among classes
// created in the same second it is the first by name.
//
// undecided is the class that would be the default if it selects the namespace, if that is unknown.
func Default(classes []*v1.ApplicationClass, namespace Namespace) (chosen, undecided *v1.ApplicationClass) {
	for _, class := range classes {
		if !IsMarkedDefault(class) {
			continue
		}
		switch Selects(class, namespace) {
		case Selected:
			chosen = Newest(chosen, class)
		case Unknown:
			undecided = Newest(undecided, class)
		case NotSelected:
		}
	}
	if undecided != nil && Newest(chosen, undecided) == undecided {
		return nil, undecided
	}
	return chosen, nil
}

// InsteadOf returns the class that is the default in all namespaces where this one would be: a newer one that selects at
// least these namespaces. Without one it returns the class itself.
func InsteadOf(class *v1.ApplicationClass, classes []*v1.ApplicationClass) *v1.ApplicationClass {
	chosen := class
	for _, other := range classes {
		covers := selectsAll(other) || equality.Semantic.DeepEqual(other.Spec.NamespaceSelector, class.Spec.NamespaceSelector)
		if IsMarkedDefault(other) && covers {
			chosen = Newest(chosen, other)
		}
	}
	return chosen
}

// Precedence says why the class of InsteadOf is the default in the place of another one.
func Precedence(instead, of *v1.ApplicationClass) string {
	if instead.CreationTimestamp.Equal(&of.CreationTimestamp) {
		return "was created in the same second and comes first by name"
	}
	return "was created later"
}

// Newest returns the class that applies where both, which are marked as the default, select a namespace. a may be nil.
func Newest(a, b *v1.ApplicationClass) *v1.ApplicationClass {
	if a == nil || newer(b, a) {
		return b
	}
	return a
}

func newer(a, b *v1.ApplicationClass) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return cmp.Less(a.Name, b.Name)
}
