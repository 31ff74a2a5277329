// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import "testing"

// TestTakenBack: an abort after the Application is gone deletes none.
func TestTakenBack(t *testing.T) {
	a := &adopting{namespace: "shop", name: "web"}
	for _, test := range []struct {
		deletes, restores, dryRun bool
		want                      string
	}{
		{true, true, false, "shop/web: the Application is deleted, and the adoption is taken back; no pod was replaced."},
		{true, true, true, "shop/web: the Application would be deleted, and the adoption would be taken back; no pod would be replaced (dry run)."},
		{false, true, false, "shop/web: the adoption is taken back; no pod was replaced."},
		{true, false, false, "shop/web: the Application is deleted, and nothing was adopted; no pod was replaced."},
	} {
		if got := a.takenBack(test.deletes, test.restores, test.dryRun); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
