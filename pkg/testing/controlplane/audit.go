// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/pkg/testing/auditlog"
)

// AuditEvent is a request as the API server saw it.
type AuditEvent = auditlog.Event

// AuditFilter selects requests.
type AuditFilter func(*AuditEvent) bool

// FromUserAgent selects the requests of a client whose user agent begins with prefix.
func FromUserAgent(prefix string) AuditFilter {
	return func(e *AuditEvent) bool { return strings.HasPrefix(e.UserAgent, prefix) }
}

// InNamespace selects the requests about objects of one namespace.
func InNamespace(namespace string) AuditFilter {
	return func(e *AuditEvent) bool { return e.Namespace == namespace }
}

// WithVerb selects the requests with one of the verbs.
func WithVerb(verbs ...string) AuditFilter {
	return func(e *AuditEvent) bool { return slices.Contains(verbs, e.Verb) }
}

// Writes selects the requests that may change something. Creating a review changes nothing.
func Writes() AuditFilter {
	return func(e *AuditEvent) bool { return e.IsWrite() }
}

// OnResource selects the requests about one of the resources, given by plural, and with a subresource as in
// pods/status.
func OnResource(resources ...string) AuditFilter {
	return func(e *AuditEvent) bool { return e.Resource != "" && slices.Contains(resources, e.Target()) }
}

// AuditCursor is a place in the audit log.
type AuditCursor struct {
	cp     *ControlPlane
	offset int64
}

// AuditEvents returns every request since the cluster started that all filters select, in the order of completion.
// It needs WithAuditLog.
func (cp *ControlPlane) AuditEvents(tb testing.TB, filters ...AuditFilter) []AuditEvent {
	tb.Helper()
	return (&AuditCursor{cp: cp}).Events(tb, filters...)
}

// AuditCursor returns the current end of the audit log, to read later only what follows.
func (cp *ControlPlane) AuditCursor(tb testing.TB) *AuditCursor {
	tb.Helper()
	cp.flushAudit(tb)
	end, err := cp.AuditLog().End()
	if err != nil {
		tb.Fatalf("read the audit log: %v", err)
	}
	return &AuditCursor{cp: cp, offset: end}
}

// Events returns the requests after the cursor that all filters select, in the order of completion. Each call starts
// at the cursor again.
//
// The result has every request whose response its client has read to the end before this call, because the API server
// writes the line of a request before the end of the response. It has a watch from its first byte, and only once. The
// log does not show whether another client has a request in progress: stop that client first, or wait until its work
// shows.
func (c *AuditCursor) Events(tb testing.TB, filters ...AuditFilter) []AuditEvent {
	tb.Helper()
	c.cp.flushAudit(tb)
	events, _, err := c.cp.AuditLog().Since(c.offset, func(e *AuditEvent) bool {
		return !slices.ContainsFunc(filters, func(selects AuditFilter) bool { return !selects(e) })
	})
	if err != nil {
		tb.Fatalf("read the audit log: %v", err)
	}
	return events
}

func (cp *ControlPlane) flushAudit(tb testing.TB) {
	tb.Helper()
	if cp.audit == "" {
		tb.Fatal("there is no audit log: start the control plane with controlplane.WithAuditLog()")
	}
	if err := cp.FlushAudit(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// AuditLog returns the log of WithAuditLog, for programs other than tests.
func (cp *ControlPlane) AuditLog() auditlog.Log { return auditlog.Log{File: cp.audit} }

// FlushAudit sends a request that it can recognise, and waits for its line. Then the log also has all requests that
// were answered before.
func (cp *ControlPlane) FlushAudit(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(cp.Config())
	if err != nil {
		return err
	}
	end, err := cp.AuditLog().End()
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	mark := string(uuid.NewUUID())
	if err := client.CoreV1().RESTClient().Get().AbsPath("/version").Param("mark", mark).Do(ctx).Error(); err != nil {
		return fmt.Errorf("mark the end of the audit log: %w", err)
	}
	err = wait.PollUntilContextCancel(ctx, readyPeriod, true, func(context.Context) (bool, error) {
		marked, _, err := cp.AuditLog().Since(end, func(e *AuditEvent) bool { return strings.HasSuffix(e.RequestURI, mark) })
		return len(marked) > 0, err
	})
	if err != nil {
		return fmt.Errorf("wait for the mark in the audit log: %w", err)
	}
	return nil
}
