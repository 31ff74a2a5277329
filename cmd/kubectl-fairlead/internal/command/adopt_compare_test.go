// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

// TestTakenError names all that is in the way at once, and what the deletion of a route costs.
func TestTakenError(t *testing.T) {
	account, ingress := child.Ref{Kind: child.ServiceAccount, Name: "web"}, child.Ref{Kind: child.Ingress, Name: "web"}
	budget := child.Ref{Kind: child.PodDisruptionBudget, Name: "web"}
	const back = "If an earlier Application left that behind, a new one can take it back: see docs/guides/take-back.md"
	for _, test := range []struct {
		taken    []child.Ref
		existing bool
		want     string
	}{
		{[]child.Ref{account}, true, "ServiceAccount web exists already, and the Application would create one of its own: rename it, or delete it if nothing needs it. " + back},
		{[]child.Ref{account, ingress}, false, "ServiceAccount web, Ingress web exist already, and the Application would create its own: rename them, or delete what nothing needs; " +
			"without Ingress web, no request arrives until the Application has its own. " + back},
		{[]child.Ref{ingress, budget}, true, "Ingress web, PodDisruptionBudget web exist already, and the Application would create its own: rename them, or delete what nothing needs; " +
			"without Ingress web, no request arrives until the Application has its own. To keep what serves the pods now, remove spec.routes, " +
			"set spec.disruptionBudget to mode Disabled in the Application until the condition Adopted is True. " + back},
	} {
		if err := takenError(test.taken, test.existing); err == nil || err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	if err := takenError(nil, false); err != nil {
		t.Error(err)
	}
}
