// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Namespace is the namespace of an Application, as classes select it.
type Namespace struct {
	Name   string
	Labels map[string]string
	// Unreadable is why the labels are unknown, or "". Unknown labels are never taken for none.
	Unreadable string
}

// Selection is whether a class selects a namespace.
type Selection int

const (
	// NotSelected means that Applications of the namespace may not have the class.
	NotSelected Selection = iota
	// Selected means that they may.
	Selected
	// Unknown means that it depends on labels that the controller cannot read. It never means Selected.
	Unknown
)

// Selects reports whether Applications of the namespace may have the class. Without a selector, or with an empty one,
// Applications of every namespace may.
func Selects(class *v1.ApplicationClass, namespace Namespace) Selection {
	if selectsAll(class) {
		return Selected
	}
	selector, err := metav1.LabelSelectorAsSelector(class.Spec.NamespaceSelector)
	switch {
	case err != nil: // The webhook refuses it. Without the webhook, an invalid selector selects nothing.
		return NotSelected
	case namespace.Unreadable != "":
		return Unknown
	case selector.Matches(labels.Set(namespace.Labels)):
		return Selected
	default:
		return NotSelected
	}
}

// NeedsNamespace reports whether a class selects namespaces by labels.
func NeedsNamespace(classes []*v1.ApplicationClass) bool {
	return slices.ContainsFunc(classes, func(class *v1.ApplicationClass) bool { return !selectsAll(class) })
}

func selectsAll(class *v1.ApplicationClass) bool {
	selector := class.Spec.NamespaceSelector
	return selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0
}
