// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	"fairlead.dev/fairlead/pkg/testing/auditlog"
)

func TestCount(t *testing.T) {
	events := []auditlog.Event{
		{Verb: "create", Resource: "services", UserAgent: "fairlead-controller/v1"},
		{Verb: "update", Resource: "applications", Subresource: "status", UserAgent: "fairlead-controller/v1"},
		{Verb: "create", Resource: "services", UserAgent: "fairlead-controller/v1"},
		{Verb: "get", RequestURI: "/version?timeout=10s", UserAgent: "curl"},
	}
	want := []report.Count{
		{Verb: "get", Resource: "/version", User: "curl", Count: 1, Each: 0.5},
		{Verb: "create", Resource: "services", User: "fairlead-controller", Count: 2, Each: 1},
		{Verb: "update", Resource: "applications/status", User: "fairlead-controller", Count: 1, Each: 0.5},
	}
	if diff := cmp.Diff(want, count(events, 2)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestTook(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	// In the order of completion, which is not that of arrival.
	events := []auditlog.Event{
		{Received: at(20), Completed: at(30)},
		{Received: at(10), Completed: at(40)},
		{Received: at(25), Completed: at(35)},
	}
	if got := took(events); got != 30*time.Millisecond {
		t.Errorf("got %s", got)
	}
	if got := took(nil); got != 0 {
		t.Errorf("of nothing: %s", got)
	}
}

func TestSelections(t *testing.T) {
	tests := []struct {
		name                                       string
		event                                      auditlog.Event
		convergence, read, status, change, ofEvent bool
	}{
		{"a child", auditlog.Event{Verb: "create", Resource: "services", Namespace: "a", Code: 201}, true, false, false, true, false},
		{"one that was refused", auditlog.Event{Verb: "create", Resource: "services", Namespace: "a", Code: 409}, false, false, false, true, false},
		{"a status", auditlog.Event{Verb: "update", Resource: "applications", Subresource: "status", Code: 200}, true, false, true, true, false},
		{"an Event", auditlog.Event{Verb: "create", Resource: "events", Code: 201}, false, false, false, false, true},
		{"an informer", auditlog.Event{Verb: "list", Resource: "services", Code: 200}, false, false, false, false, false},
		{"its watch", auditlog.Event{Verb: "watch", Resource: "services", Code: 200}, false, false, false, false, false},
		{"a list aside", auditlog.Event{Verb: "list", Resource: "services", Namespace: "a", Code: 200}, false, true, false, false, false},
		{"a live read", auditlog.Event{Verb: "get", Resource: "services", Namespace: "a", Name: "b", Code: 200}, false, true, false, false, false},
		{"discovery", auditlog.Event{Verb: "get", RequestURI: "/apis", Code: 200}, false, false, false, false, false},
		{"a review", auditlog.Event{Verb: "create", Resource: "selfsubjectaccessreviews", Code: 201}, false, false, false, false, false},
	}
	for _, test := range tests {
		e := &test.event
		got := []bool{isConvergence(e), isRead(e), isStatusWrite(e), isChangeRequest(e), isEventWrite(e)}
		want := []bool{test.convergence, test.read, test.status, test.change, test.ofEvent}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: convergence, read, status, change, Event: want -, got +:\n%s", test.name, diff)
		}
	}
}

func TestSettled(t *testing.T) {
	var events []auditlog.Event
	for range children {
		events = append(events, auditlog.Event{Verb: "create", Resource: "services", Code: 201})
	}
	if settled(1)(events) {
		t.Error("settled without a status")
	}
	events = append(events, auditlog.Event{Verb: "update", Resource: "applications", Subresource: "status", Namespace: "a", Name: "b", Code: 200})
	if !settled(1)(events) {
		t.Error("not settled with all children and a status")
	}
	if settled(1)(events[1:]) {
		t.Error("settled with a child less")
	}
	if settled(2)(append(events, events...)) {
		t.Error("two status of one Application count as two Applications")
	}
}
