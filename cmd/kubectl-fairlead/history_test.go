// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import "testing"

// TestHistoryBeforeTheFirst: a heading without a line below it looks as if something were missing.
func TestHistoryBeforeTheFirst(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1, reconcilePolicy: Suspend}")
	if got := p.want(0, []string{"history", "web"}).stdout; got != "No revisions yet.\n" {
		t.Errorf("it says %q", got)
	}
	if got := p.want(0, []string{"history", "web", "--no-headers"}).stdout; got != "" {
		t.Errorf("to a script it says %q", got)
	}
}
