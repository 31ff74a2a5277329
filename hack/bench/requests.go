// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/pkg/testing/auditlog"
)

// event is a request.
type event = auditlog.Event

// requests follows the audit log from a point on, and keeps what it selects.
type requests struct {
	lab    *lab
	want   func(*event) bool
	offset int64
	events []event
}

// follow begins at the present end of the log.
func (l *lab) follow(ctx context.Context, want func(*event) bool) (*requests, error) {
	if err := l.plane.FlushAudit(ctx); err != nil {
		return nil, err
	}
	end, err := l.log.End()
	return &requests{lab: l, want: want, offset: end}, err
}

// read takes in what the log has by now.
func (r *requests) read() error {
	events, next, err := r.lab.log.Since(r.offset, r.want)
	r.offset = next
	r.events = append(r.events, events...)
	return err
}

// all takes in everything that has been answered until now.
func (r *requests) all(ctx context.Context) ([]event, error) {
	if err := r.lab.plane.FlushAudit(ctx); err != nil {
		return nil, err
	}
	err := r.read()
	return r.events, err
}

// calm is how long nothing must happen for work to count as done: longer than the controller puts a write off, which is
// one second.
const calm = 2 * time.Second

// readPeriod is how often the log is read while something is measured. Its timestamps are what is measured by, so it may
// be seldom: reading costs processor time that the measured process could use.
func readPeriod(applications int) time.Duration {
	return min(time.Second, 100*time.Millisecond+time.Duration(applications)*time.Millisecond)
}

// untilCalm reads until done says so of all events and nothing new has come for a while. If nothing comes for very long,
// it gives up.
func (r *requests) untilCalm(ctx context.Context, by *subject, done func([]event) bool) error {
	ticker := time.NewTicker(readPeriod(r.lab.options.applications))
	defer ticker.Stop()
	const patience = 2 * time.Minute
	for known, changed := 0, time.Now(); ; {
		if err := errors.Join(r.read(), by.Err()); err != nil {
			return err
		}
		switch quiet := time.Since(changed); {
		case len(r.events) != known:
			known, changed = len(r.events), time.Now()
		case quiet >= calm && done(r.events):
			return nil
		case quiet > patience:
			return fmt.Errorf("no request for %s, and the work is not done; the last lines of the log:\n%s", patience, process.Tail(by.Log))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func fromController(e *event) bool {
	return strings.HasPrefix(e.UserAgent, "fairlead-controller/")
}

// fromRaw selects what the raw client writes, not what other components do in its name.
func fromRaw(e *event) bool { return strings.HasPrefix(e.UserAgent, rawAgent+"/") }

// isConvergence selects what an Application waits for: its children and its status, not its Events.
func isConvergence(e *event) bool {
	return e.IsWrite() && e.Code < 300 && e.Resource != "events"
}

// isRead selects what asks the API server for something outside of an informer: those list and watch all namespaces.
func isRead(e *event) bool {
	return e.Verb == "get" && e.Resource != "" || e.Verb == "list" && e.Namespace != ""
}

// took is the time from the first request that was received to the last one that was answered.
func took(events []event) time.Duration {
	if len(events) == 0 {
		return 0
	}
	first, last := events[0].Received, events[0].Completed
	for _, e := range events {
		if e.Received.Before(first) {
			first = e.Received
		}
		if e.Completed.After(last) {
			last = e.Completed
		}
	}
	return last.Sub(first)
}

// count adds requests up by verb, resource and user agent, and divides by the number of Applications.
func count(events []event, applications int) []report.Count {
	type kind struct{ verb, resource, user string }
	counts := map[kind]int{}
	for _, e := range events {
		user, _, _ := strings.Cut(e.UserAgent, "/")
		resource, _, _ := strings.Cut(e.Target(), "?")
		counts[kind{e.Verb, resource, user}]++
	}
	rows := make([]report.Count, 0, len(counts))
	for k, n := range counts {
		rows = append(rows, report.Count{Verb: k.verb, Resource: k.resource, User: k.user, Count: n, Each: float64(n) / float64(applications)})
	}
	slices.SortFunc(rows, func(a, b report.Count) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Resource, b.Resource))
	})
	return rows
}

// only are the events of a selection.
func only(events []event, want func(*event) bool) []event {
	var selected []event
	for i := range events {
		if want(&events[i]) {
			selected = append(selected, events[i])
		}
	}
	return selected
}

// countIf is how many events a selection has.
func countIf(events []event, want func(*event) bool) int {
	return len(only(events, want))
}

func isStatusWrite(e *event) bool { return e.IsWrite() && e.Subresource == "status" }

func isEventWrite(e *event) bool { return e.IsWrite() && e.Resource == "events" }

// isChangeRequest selects all writes but those of Events, the refused ones too.
func isChangeRequest(e *event) bool { return e.IsWrite() && e.Resource != "events" }

// isSuccessfulWrite selects what changed something that is measured.
func isSuccessfulWrite(e *event) bool { return measured(e) && e.IsWrite() && e.Code < 300 }

// isAnyWrite selects everything that would change something, Events too.
func isAnyWrite(e *event) bool { return e.IsWrite() }

// isGetOrList selects every read, those of informers too, but not their watches, which are renewed now and then.
func isGetOrList(e *event) bool { return e.Resource != "" && (e.Verb == "get" || e.Verb == "list") }

// waits pairs each cause with the first effect after it that has the same key, and returns the milliseconds between the
// answers to both. A cause without an effect counts as forever.
func waits(events []event, cause, effect func(*event) (key string, is bool)) report.Sample {
	effects := map[string][]*event{}
	for i := range events {
		if key, is := effect(&events[i]); is {
			effects[key] = append(effects[key], &events[i])
		}
	}
	var milliseconds report.Sample
	for i := range events {
		key, is := cause(&events[i])
		if !is {
			continue
		}
		wait := math.Inf(1)
		for _, e := range effects[key] {
			// An effect is asked for after its cause has arrived; the answer to the cause may come later still.
			if e.Received.After(events[i].Received) {
				wait = min(wait, max(0, e.Completed.Sub(events[i].Completed).Seconds())*1000)
			}
		}
		milliseconds = append(milliseconds, wait)
	}
	return milliseconds
}
