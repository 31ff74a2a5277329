// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import "testing"

func TestMissingMessage(t *testing.T) {
	for _, test := range []struct {
		missing []string
		podsRun bool
		want    string
	}{
		{nil, false, ""},
		{[]string{"Secret a does not exist"}, false, "Secret a does not exist; no pod starts without it"},
		{[]string{"Secret a does not exist", "ConfigMap b does not exist"}, false, "Secret a does not exist; ConfigMap b does not exist; no pod starts without them"},
		{[]string{"Secret a does not exist", "ConfigMap b does not exist"}, true,
			"Secret a does not exist; ConfigMap b does not exist; running pods stay as they are, and new ones that need them wait"},
	} {
		state := configState{missing: test.missing, podsRun: test.podsRun}
		if got := state.missingMessage(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
