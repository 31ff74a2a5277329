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

// TestHistoryOfAnUndoneRestart: what the undo goes back to has a higher number than the restart, and is none.
func TestHistoryOfAnUndoneRestart(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"restart", "web"})
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "revision 2")
	p.want(0, []string{"undo", "web", "--to-revision=1"}, "that only takes a restart back\n")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "revision 3")
	p.wantHistory("web", "3 example.com/web:1 current, last healthy", "2 example.com/web:1 was healthy, restart of the same pods as 3")
}
