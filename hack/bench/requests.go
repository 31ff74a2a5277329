// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	"fairlead.dev/fairlead/pkg/testing/auditlog"
)

// requests follows the audit log from a point on, and keeps what it selects.
type requests struct {
	lab    *lab
	want   func(*auditlog.Event) bool
	offset int64
	events []auditlog.Event
}

// follow begins at the present end of the log.
func (l *lab) follow(ctx context.Context, want func(*auditlog.Event) bool) (*requests, error) {
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
func (r *requests) all(ctx context.Context) ([]auditlog.Event, error) {
	if err := r.lab.plane.FlushAudit(ctx); err != nil {
		return nil, err
	}
	err := r.read()
	return r.events, err
}

const (
	// readPeriod is how often the log is read while something is measured. Its timestamps are what is measured by, so it
	// may be seldom: reading costs processor time that who is measured could use.
	readPeriod = time.Second
	// calm is how long nothing must happen for work to count as done: longer than the controller puts a write off.
	calm = 3 * time.Second
)

// errStuck is the end of waiting for a client that does nothing any more.
var errStuck = errors.New("nothing happens any more, and the work is not done")

// untilCalm reads until done says so of all events and nothing new has come for a while. If nothing comes for very long,
// it gives up.
func (r *requests) untilCalm(ctx context.Context, alive func() error, done func([]auditlog.Event) bool) error {
	ticker := time.NewTicker(readPeriod)
	defer ticker.Stop()
	const patience = 2 * time.Minute
	for known, changed := 0, time.Now(); ; {
		if err := errors.Join(r.read(), alive()); err != nil {
			return err
		}
		switch quiet := time.Since(changed); {
		case len(r.events) != known:
			known, changed = len(r.events), time.Now()
		case quiet >= calm && done(r.events):
			return nil
		case quiet > patience:
			return errStuck
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func fromController(e *auditlog.Event) bool {
	return strings.HasPrefix(e.UserAgent, "fairlead-controller/")
}

// isConvergence selects what an Application waits for: its children and its status, not what is told about it.
func isConvergence(e *auditlog.Event) bool {
	return e.IsWrite() && e.Code < 300 && e.Resource != "events"
}

// isRead selects what asks the API server for something outside of an informer: those list and watch all namespaces.
func isRead(e *auditlog.Event) bool {
	return e.Verb == "get" && e.Resource != "" || e.Verb == "list" && e.Namespace != ""
}

// took is the time from the first request that was received to the last one that was answered.
func took(events []auditlog.Event) time.Duration {
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
func count(events []auditlog.Event, applications int) []report.Count {
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

// countIf is how many events a selection has.
func countIf(events []auditlog.Event, want func(*auditlog.Event) bool) int {
	n := 0
	for i := range events {
		if want(&events[i]) {
			n++
		}
	}
	return n
}

func isStatusWrite(e *auditlog.Event) bool { return e.IsWrite() && e.Subresource == "status" }

func isEventWrite(e *auditlog.Event) bool { return e.IsWrite() && e.Resource == "events" }

// isChangeRequest selects all writes but those of Events, the refused ones too.
func isChangeRequest(e *auditlog.Event) bool { return e.IsWrite() && e.Resource != "events" }
