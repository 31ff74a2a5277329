// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/hack/bench/internal/report"
)

const controllerAgent = "fairlead-controller/v1"

// request was received and answered at so many milliseconds.
func request(by, verb, resource, name string, received, completed int) event {
	return event{
		UserAgent: by, Verb: verb, Resource: resource, Namespace: "bench-1", Name: name, Code: 200,
		Received: time.UnixMilli(int64(received)), Completed: time.UnixMilli(int64(completed)),
	}
}

func TestFollowed(t *testing.T) {
	events := []event{
		request(controllerAgent, "patch", "deployments", "a", 1, 2), // of a change before
		request(agent, "patch", "applications", "a", 10, 12),
		request(controllerAgent, "patch", "deployments", "b", 13, 14), // of another Application
		request(controllerAgent, "patch", "deployments", "a", 20, 25),
		request(controllerAgent, "patch", "deployments", "a", 30, 35),
		// The watch was faster than the answer.
		request(controllerAgent, "patch", "deployments", "c", 52, 53),
		request(agent, "patch", "applications", "c", 50, 60),
		request(agent, "patch", "applications", "lost", 70, 71),
	}
	if diff := cmp.Diff(report.Sample{13, 0, math.Inf(1)}, followed(events, fromController)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestRepairs(t *testing.T) {
	events := []event{
		request(agent, "patch", "deployments", "a", 10, 12),
		request(controllerAgent, "patch", "deployments", "a", 15, 20), // managedFields
		request(controllerAgent, "patch", "deployments", "a", 21, 30),
		request(agent, "delete", "services", "a", 40, 41),
		request(controllerAgent, "create", "services", "a", 44, 46),
		request(agent, "delete", "services", "b", 50, 51), // not repaired yet
	}
	got := repairs(events)
	if diff := cmp.Diff(report.Sample{18, 5}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	const want = "1 ≤ 10 ms, 2 ≤ 25 ms, 2 ≤ 50 ms, 2 ≤ 100 ms, 2 ≤ 250 ms, 2 ≤ 500 ms, 2 ≤ 1000 ms, longest 18 ms"
	if text := histogram(got); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestEditsAreEachOfAnotherChild(t *testing.T) {
	ways := edits()
	for _, applications := range []int{1, 2, 3, 20, 100} {
		seen := map[[2]int]bool{}
		for i := range applications * len(ways) {
			application, way := chosen(i, applications)
			if key := [2]int{application, way}; seen[key] {
				t.Fatalf("with %d Applications, edit %d is of a child that was edited before", applications, i)
			} else {
				seen[key] = true
			}
		}
	}
}
