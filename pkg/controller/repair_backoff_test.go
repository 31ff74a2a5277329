// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/plan"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func owner() *v1.Application {
	web := application("web")
	web.UID = "application-uid"
	return web
}

func ref(kind child.Kind) child.Ref { return child.Ref{Kind: kind, Namespace: namespace, Name: "web"} }

// viewOf is what a plan would know.
func viewOf(m *memory, application *v1.Application, now time.Time) view {
	return m.view(cache.MetaObjectToName(application), application.UID, now)
}

// The delay after each repair of a child that another writer reverts at once.
func TestRepairsBackOff(t *testing.T) {
	m, web := newMemory(consistency.NewStore()), owner()
	at := noon
	for i, delay := range []time.Duration{
		0, 0, 0, 0, // A user who tries something is not kept waiting.
		5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second,
		80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute,
	} {
		m.repaired(web, ref(child.Deployment), at)
		v := viewOf(m, web, at)
		if v.backoff != delay || v.inBackoff[ref(child.Deployment)] != (delay > 0) {
			t.Errorf("after repair %d it is in backoff %t for %s, want %s", i+1, v.inBackoff[ref(child.Deployment)], v.backoff, delay)
		}
		if delay > 0 {
			if v := viewOf(m, web, at.Add(delay-time.Millisecond)); v.backoff != time.Millisecond {
				t.Errorf("after repair %d, shortly before the end of the delay, it is in backoff for %s", i+1, v.backoff)
			}
		}
		at = at.Add(delay)
		if v := viewOf(m, web, at); len(v.inBackoff) != 0 || v.backoff != 0 {
			t.Errorf("after repair %d and its delay %v is in backoff for %s", i+1, v.inBackoff, v.backoff)
		}
	}
}

func TestRepairDelaysStayBounded(t *testing.T) {
	m, web := newMemory(consistency.NewStore()), owner()
	at := noon
	for range 1000 {
		m.repaired(web, ref(child.Deployment), at)
		delay := viewOf(m, web, at).backoff
		if delay < 0 || delay > repairMaxDelay {
			t.Fatalf("a delay of %s", delay)
		}
		at = at.Add(delay)
	}
}

// repairOften repairs the child so often that it is in backoff.
func repairOften(m *memory, application *v1.Application, kind child.Kind, at time.Time) {
	for range immediateRepairs {
		m.repaired(application, ref(kind), at)
	}
}

func TestRepairsReset(t *testing.T) {
	for _, test := range []struct {
		name  string
		after time.Duration
		want  time.Duration
	}{
		{"soon", time.Minute, 10 * time.Second},
		{"at the end", resetAfter, 10 * time.Second},
		{"after it", resetAfter + time.Second, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, web := newMemory(consistency.NewStore()), owner()
			repairOften(m, web, child.Deployment, noon)
			at := noon.Add(test.after)
			m.repaired(web, ref(child.Deployment), at)
			if got := viewOf(m, web, at).backoff; got != test.want {
				t.Errorf("it is in backoff for %s, want %s", got, test.want)
			}
		})
	}
}

// A child that is changed and deleted in turns is in backoff for both.
func TestChangesAndDeletionsAreApart(t *testing.T) {
	m, web := newMemory(consistency.NewStore()), owner()
	service := ref(child.Service)
	repairOften(m, web, child.Service, noon)
	if v := viewOf(m, web, noon); !v.inBackoff[service] || v.createBackoff[service] {
		t.Errorf("after changes, their repairs back off: %t, and those of deletions: %t", v.inBackoff[service], v.createBackoff[service])
	}
	for range immediateRepairs {
		m.recreated(web, service, noon.Add(time.Second))
	}
	if v := viewOf(m, web, noon.Add(time.Second)); !v.inBackoff[service] || !v.createBackoff[service] || v.backoff != 4*time.Second {
		t.Errorf("after deletions too, it is %+v; want both in backoff, the changes for 4s", v)
	}
}

func TestChildrenAndOwnersAreApart(t *testing.T) {
	m, web := newMemory(consistency.NewStore()), owner()
	repairOften(m, web, child.Deployment, noon)
	repairOften(m, web, child.Service, noon.Add(time.Second))
	m.repaired(web, ref(child.Ingress), noon)
	v := viewOf(m, web, noon.Add(time.Second))
	if len(v.inBackoff) != 2 || !v.inBackoff[ref(child.Deployment)] || !v.inBackoff[ref(child.Service)] {
		t.Errorf("in backoff are %v, want the Deployment and the Service", v.inBackoff)
	}
	if v.backoff != 4*time.Second {
		t.Errorf("the first may be repaired in %s, want 4s: the Deployment", v.backoff)
	}
	// An Application that was deleted and created again has a new UID, and starts anew.
	again := owner()
	again.UID = "another-uid"
	if v := viewOf(m, again, noon); len(v.inBackoff) > 0 || v.backoff != 0 {
		t.Errorf("the next Application of that name has %v in backoff for %s", v.inBackoff, v.backoff)
	}
	m.repaired(again, ref(child.Deployment), noon)
	if v := viewOf(m, again, noon); len(v.inBackoff) > 0 {
		t.Errorf("one repair later %v is in backoff", v.inBackoff)
	}
}

func TestConcurrentRepairs(t *testing.T) {
	m := newMemory(consistency.NewStore())
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			web := application([]string{"a", "b", "c", "d"}[worker%4])
			for i := range 200 {
				at := noon.Add(time.Duration(i) * time.Minute)
				m.repaired(web, ref(child.Deployment), at)
				viewOf(m, web, at)
			}
		})
	}
	all.Wait()
	if v := viewOf(m, application("a"), noon.Add(200*time.Minute)); !v.inBackoff[ref(child.Deployment)] {
		t.Error("what was repaired 400 times within minutes is not in backoff")
	}
}

// The rendering that was applied last is remembered, apart from the repairs.
func TestLastApplied(t *testing.T) {
	m, web := newMemory(consistency.NewStore()), owner()
	if got := viewOf(m, web, noon).lastApplied; len(got) != 0 {
		t.Errorf("at first it remembers %v", got)
	}
	m.applied(web, ref(child.Deployment), "one")
	m.applied(web, ref(child.Deployment), "two")
	m.repaired(web, ref(child.Service), noon)
	v := viewOf(m, web, noon)
	if len(v.lastApplied) != 1 || v.lastApplied[ref(child.Deployment)] != "two" || len(v.inBackoff) != 0 {
		t.Errorf("it remembers %v, in backoff are %v; want the second rendering of the Deployment", v.lastApplied, v.inBackoff)
	}
	repairOften(m, web, child.Deployment, noon)
	if got := viewOf(m, web, noon).lastApplied; got[ref(child.Deployment)] != "two" {
		t.Errorf("after repairs it remembers %v", got)
	}
}

// A message names the fields that were changed more than once since repairs had no delay.
func TestContendedFields(t *testing.T) {
	const replicas, image, paused = ".spec.replicas", ".spec.image", ".spec.paused"
	for name, test := range map[string]struct {
		// repaired are the fields of each repair.
		repaired [][]string
		differ   []string
		want     []string
	}{
		"the one that was repaired":            {[][]string{{replicas}, {replicas}, {replicas}, {replicas}, {replicas}}, []string{replicas}, []string{replicas}},
		"with another one":                     {[][]string{{replicas}, {replicas}, {replicas}, {replicas}, {replicas}}, []string{image, replicas}, []string{replicas}},
		"only another one":                     {[][]string{{replicas}, {replicas}, {replicas}, {replicas}, {replicas}}, []string{image}, []string{replicas}},
		"another one again":                    {[][]string{{replicas}, {replicas}, {image}, {replicas}, {replicas}}, []string{image}, []string{image}},
		"only another one, after a single one": {[][]string{{replicas}, {replicas}, {paused}, {replicas}, {replicas}}, []string{image}, []string{replicas}},
		"each changed once":                    {[][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}, []string{image}, []string{}},
		"the owner":                            {[][]string{{replicas}, {replicas}, {replicas}, {replicas}, {replicas}}, nil, nil},
	} {
		m, web := newMemory(consistency.NewStore()), owner()
		// What was repaired long ago does not count.
		m.repaired(web, ref(child.Deployment), noon.Add(-time.Hour), image, paused)
		for _, fields := range test.repaired {
			m.repaired(web, ref(child.Deployment), noon, fields...)
		}
		results := []plan.Result{{Step: plan.Step{Ref: ref(child.Deployment), Action: plan.Backoff, Fields: test.differ}}}
		if diff := cmp.Diff(test.want, viewOf(m, web, noon).contendedFields(results)[ref(child.Deployment)]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A child of many fields takes only so much memory.
func TestContendedFieldsStayBounded(t *testing.T) {
	m, web := newMemory(consistency.NewStore()), owner()
	for i := range 1000 {
		m.repaired(web, ref(child.Deployment), noon, ".spec.replicas", fmt.Sprintf(".data.%d", i))
	}
	if got := viewOf(m, web, noon).changed[ref(child.Deployment)]; len(got) != maxChangedFields || got[".spec.replicas"] != 1000 {
		t.Errorf("it remembers %d fields, want %d; and %d changes of the first", len(got), maxChangedFields, got[".spec.replicas"])
	}
}
