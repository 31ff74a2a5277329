// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// six is an Application with six children.
const six = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  replicas: 2
  ports: [{name: http, containerPort: 8080}]
  config: {mountPath: /etc/web, data: {web.yaml: "greeting: hello"}}
  networkPolicy: {}
`

// calm is how long nothing must happen for an Application to count as settled: longer than
// any write may be put off.
const calm = 3 * time.Second

// ownAgent makes the requests of this one controller recognisable, those without a namespace too.
func (e *env) ownAgent(s *setup) {
	s.Config = func(config *app.Config) { config.Client.UserAgent = controllerAgent + e.namespace }
}

// requests returns everything that the controller of the test asked the API server since the
// cursor, once that has been nothing new for a while.
func (e *env) requests(since *controlplane.AuditCursor) []controlplane.AuditEvent {
	e.Helper()
	var events []controlplane.AuditEvent
	changed := time.Now()
	err := wait.PollUntilContextTimeout(e.Context(), calm/6, 2*patience, true, func(context.Context) (bool, error) {
		now := since.Events(e.TB, controlplane.FromUserAgent(controllerAgent+e.namespace))
		if len(now) != len(events) {
			events, changed = now, time.Now()
		}
		return time.Since(changed) > calm, e.died()
	})
	if err != nil {
		e.Fatalf("the controller does not come to rest; the last requests: %v\n%s", events[max(0, len(events)-10):], e.diagnosis())
	}
	return events
}

// tally counts requests by verb and resource.
func tally(events []controlplane.AuditEvent) map[string]int {
	counts := map[string]int{}
	for _, event := range events {
		what := event.Resource
		switch {
		case event.Resource == "":
			what = event.RequestURI
		case event.Subresource != "":
			what += "/" + event.Subresource
		}
		counts[event.Verb+" "+what]++
	}
	return counts
}

// table is a tally for people.
func table(counts map[string]int) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, request := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(w, "  %s\t%d\n", strings.Replace(request, " ", "\t", 1), counts[request])
	}
	_ = w.Flush()
	return b.String()
}

// childResources are the plurals of all kinds of children.
func childResources() []string {
	var names []string
	for _, kind := range child.Kinds() {
		names = append(names, kind.Resource)
	}
	return names
}

// started waits until the caches are filled, so that what the start costs is not counted.
func (e *env) started() {
	e.Helper()
	e.eventually("the caches are synced", func() (bool, string) { return e.log.find("Caches synced") != "", e.log.last(3) })
}

// TestRequestsOfANewApplication counts what a new Application costs until it is Ready and at
// rest: a write for each child, few of status, at most one Event, and not one read.
func TestRequestsOfANewApplication(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		manifest string
		children int
	}{
		// Each has a revision too, of which no request is made but the one that creates it.
		{"minimal", small, 2 + 1},
		{"six-children", six, 6 + 1},
		{"all-children", full, 8 + 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, shared.Get(t))
			e.run(e.ownAgent)
			e.started()
			cursor := e.cluster.AuditCursor(t)
			e.create(test.manifest)
			if got := len(e.waitReady("web").Status.Resources); got != test.children {
				t.Fatalf("the Application has %d children, want %d", got, test.children)
			}
			counts := tally(e.requests(cursor))
			t.Logf("requests for a new Application with %d children:\n%s", test.children, table(counts))
			created := 0
			for request, count := range counts {
				verb, resource, _ := strings.Cut(request, " ")
				switch {
				case verb == "create" && slices.Contains(childResources(), resource):
					created += count
				case request == "update applications/status":
					if count > 2 {
						t.Errorf("%d writes of status, want at most 2", count)
					}
				case request == "create events":
					if count > 1 {
						t.Errorf("%d Events, want at most 1", count)
					}
				default:
					t.Errorf("%d of an unexpected request: %s", count, request)
				}
			}
			if created != test.children {
				t.Errorf("%d children were created, want %d", created, test.children)
			}
		})
	}
}

// TestRest restarts the controller over settled Applications, and lets it look at all of them
// again and again: both must cost nothing.
func TestRest(t *testing.T) {
	t.Parallel()
	const applications = 30
	e := newEnv(t, shared.Get(t))
	e.run(e.ownAgent)
	cursor := e.cluster.AuditCursor(t)
	var names []string
	for i := range applications {
		names = append(names, fmt.Sprintf("web-%02d", i))
		e.create(named([]string{small, six, full}[i%3], names[i]))
	}
	for _, name := range names {
		e.waitReady(name)
	}
	e.requests(cursor) // Waits until they are settled.
	e.stop()

	t.Run("restart", func(t *testing.T) {
		e := e.sub(t)
		cursor, from, started := e.cluster.AuditCursor(t), e.log.len(), time.Now()
		e.run(e.ownAgent)
		e.waitSynced(names, from, "Synced", 1)
		counts := tally(slices.DeleteFunc(e.requests(cursor), func(event controlplane.AuditEvent) bool {
			return event.Received.Before(started) // The API server logs the end of the former controller's watches late.
		}))
		e.stop()
		t.Logf("requests of a restart over %d settled Applications:\n%s", applications, table(counts))
		for request, count := range counts {
			verb, resource, _ := strings.Cut(request, " ")
			switch {
			case resource == "/version?timeout=10s", resource == "/apis/apps.fairlead.dev/v1?timeout=10s":
			case request == "create selfsubjectaccessreviews": // May it read classes?
			case request == "watch customresourcedefinitions" && count == len(child.OptionalKinds()): // One by one, by name.
			case count > 1:
				t.Errorf("%d of one request: %s", count, request)
			case verb != "list" && verb != "watch":
				t.Errorf("an unexpected request: %s", request)
			case !slices.Contains(append(childResources(), v1.ApplicationResource, "applicationclasses", "namespaces", "replicasets", "pods"), resource):
				t.Errorf("a request about what is no child, pod, class or namespace: %s", request)
			}
		}
	})

	t.Run("resync", func(t *testing.T) {
		e := e.sub(t)
		from := e.log.len()
		e.run(e.ownAgent, func(s *setup) { s.ResyncPeriod = time.Second })
		e.waitSynced(names, from, "Synced", 1)
		cursor, from := e.cluster.AuditCursor(t), e.log.len()
		e.waitSynced(names, from, `trigger="ApplicationResynced"`, 3)
		requests := since(cursor, e)
		e.stop()
		for _, request := range requests {
			t.Errorf("a resync made a request: %s", request)
		}
	})
}

// since reads the requests of the controller now, without waiting for more.
func since(cursor *controlplane.AuditCursor, e *env) []controlplane.AuditEvent {
	return cursor.Events(e.TB, controlplane.FromUserAgent(controllerAgent+e.namespace))
}

// len is the number of entries so far.
func (l *recentLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

// waitSynced waits until the log, from an entry on, tells so many syncs of each Application.
func (e *env) waitSynced(names []string, from int, what string, times int) {
	e.Helper()
	e.eventually(fmt.Sprintf("%d times %s of each Application", times, what), func() (bool, string) {
		e.log.mu.Lock()
		defer e.log.mu.Unlock()
		missing := 0
		for _, name := range names {
			about, found := fmt.Sprintf("application=%q", e.namespace+"/"+name), 0
			for _, line := range e.log.lines[from:] {
				if strings.Contains(line, `"Synced"`) && strings.Contains(line, what) && strings.Contains(line, about) {
					found++
				}
			}
			if found < times {
				missing++
			}
		}
		return missing == 0, fmt.Sprintf("%d of %d missing", missing, len(names))
	})
}

// TestStatusWritesOfARollout replaces ten pods. Kubernetes changes the Deployment's status many
// times meanwhile; that must cost one write in a second, beside the beginning, the end, and one
// when all has settled.
func TestStatusWritesOfARollout(t *testing.T) {
	t.Parallel()
	const settleTime = time.Second // that of pkg/controller
	e := newEnv(t, shared.Get(t))
	e.run(e.ownAgent)
	e.create(strings.ReplaceAll(six, "replicas: 2", "replicas: 10"))
	e.waitReady("web")
	cursor := e.cluster.AuditCursor(t)
	e.requests(cursor)
	cursor = e.cluster.AuditCursor(t)
	begin := time.Now()
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })
	e.waitReady("web")
	took := time.Since(begin)
	counts := tally(e.requests(cursor))
	t.Logf("requests of a rollout of 10 pods, which took %s:\n%s", took.Round(100*time.Millisecond), table(counts))
	if got, most := counts["update applications/status"], 3+int(took/settleTime); got > most {
		t.Errorf("%d writes of status in %s, want at most %d", got, took, most)
	}
	if got := counts["patch deployments"]; got != 1 {
		t.Errorf("%d writes of the Deployment, want 1", got)
	}
}
