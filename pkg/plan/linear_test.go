// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestLongListsAreComparedInOneGo compares lists so long that comparing each item with each other one
// would take minutes: the test would run into the limit of its time.
func TestLongListsAreComparedInOneGo(t *testing.T) {
	const n = 200_000
	live := make([]corev1.EnvVar, n)
	rendered := make([]map[string]any, n)
	for i := range n {
		live[i].Name = fmt.Sprint(i)
		rendered[i] = map[string]any{"name": live[i].Name}
	}
	if !sameOrder(rendered, live, func(v corev1.EnvVar) string { return v.Name }) {
		t.Error("the lists stand in the same order")
	}
	if !unique([]string{"name"}, jsonValueOf(live)) {
		t.Error("no two variables have one name")
	}
	live[n-1].Name = live[0].Name
	if unique([]string{"name"}, jsonValueOf(live)) {
		t.Error("two variables have one name")
	}
}
