// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// first and last are the kinds whose place matters; the others are between them, in the order of
// the overlay.
//
// An API server asks a webhook from the moment that it is registered, so the controller that answers
// comes before it, and goes after it.
var (
	first = []string{"Namespace", "PriorityClass", "PriorityLevelConfiguration", "FlowSchema", "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"}
	last  = []string{deploymentKind, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
)

func sortForApply(objects []*unstructured.Unstructured) {
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return place(a.GetKind()) - place(b.GetKind())
	})
}

func place(kind string) int {
	if i := slices.Index(first, kind); i >= 0 {
		return i
	}
	return len(first) + 1 + slices.Index(last, kind)
}
