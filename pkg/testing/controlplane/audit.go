// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// AuditEvent is one request, as the API server saw it.
type AuditEvent struct {
	ID          string
	Stage       string // ResponseComplete; ResponseStarted for a watch that still runs; Panic
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	RequestURI  string
	UserAgent   string
	User        string
	Groups      []string
	APIGroup    string
	APIVersion  string
	Resource    string // plural; empty for a request that is not about a resource
	Subresource string
	Namespace   string
	Name        string
	Code        int // HTTP status
	Received    time.Time
	Completed   time.Time // of the stage
}

// String shows what one wants to read in the message of a failed test.
func (e AuditEvent) String() string {
	resource := e.Resource
	if e.Subresource != "" {
		resource += "/" + e.Subresource
	}
	if e.Resource == "" {
		resource = e.RequestURI
	}
	return fmt.Sprintf("%s %s %s %s/%s -> %d (%s)", e.Received.Format("15:04:05.000"), e.Verb, resource, e.Namespace, e.Name, e.Code, e.UserAgent)
}

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

// Writes selects the requests that would change something. A review is a question, although it is created.
func Writes() AuditFilter {
	writes, reviews := WithVerb("create", "update", "patch", "delete", "deletecollection"),
		OnResource("selfsubjectaccessreviews", "subjectaccessreviews", "tokenreviews")
	return func(e *AuditEvent) bool { return writes(e) && !reviews(e) }
}

// OnResource selects the requests about one of the resources, given as plurals, with a subresource as pods/status.
func OnResource(resources ...string) AuditFilter {
	return func(e *AuditEvent) bool {
		resource := e.Resource
		if e.Subresource != "" {
			resource += "/" + e.Subresource
		}
		return slices.Contains(resources, resource)
	}
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

// AuditCursor returns the end of the audit log as it is now, to read later only what follows.
func (cp *ControlPlane) AuditCursor(tb testing.TB) *AuditCursor {
	tb.Helper()
	cp.flushAudit(tb)
	info, err := os.Stat(cp.audit)
	if err != nil {
		tb.Fatalf("read the audit log: %v", err)
	}
	return &AuditCursor{cp: cp, offset: info.Size()}
}

// Events returns the requests after the cursor that all filters select, in the order of completion. It may be called
// again and again; each time it reads from the cursor on.
//
// It contains every request whose answer its client has read to the end before this call: the API server writes the line
// of a request before the end of the answer. A watch is there from its first byte, and once only. Whether another client
// has a request under way is not for the log to say: stop that client first, or wait until its work shows.
func (c *AuditCursor) Events(tb testing.TB, filters ...AuditFilter) []AuditEvent {
	tb.Helper()
	c.cp.flushAudit(tb)
	events, err := c.read()
	if err != nil {
		tb.Fatalf("read the audit log: %v", err)
	}
	return slices.DeleteFunc(events, func(e AuditEvent) bool {
		return slices.ContainsFunc(filters, func(selects AuditFilter) bool { return !selects(&e) })
	})
}

// flushAudit makes a request that can be recognised and waits for its line, so that what was answered before is there
// too.
func (cp *ControlPlane) flushAudit(tb testing.TB) {
	tb.Helper()
	cp.requireEmbedded(tb, "reads the audit log")
	if cp.audit == "" {
		tb.Fatal("there is no audit log: start the control plane with controlplane.WithAuditLog()")
	}
	client, err := kubernetes.NewForConfig(cp.Config())
	if err != nil {
		tb.Fatal(err)
	}
	mark := string(uuid.NewUUID())
	begin, err := os.Stat(cp.audit)
	if err != nil {
		tb.Fatalf("read the audit log: %v", err)
	}
	if err := client.CoreV1().RESTClient().Get().AbsPath("/version").Param("mark", mark).Do(tb.Context()).Error(); err != nil {
		tb.Fatalf("mark the end of the audit log: %v", err)
	}
	cursor := &AuditCursor{cp: cp, offset: begin.Size()}
	err = wait.PollUntilContextCancel(tb.Context(), readyPeriod, true, func(context.Context) (bool, error) {
		events, err := cursor.read()
		return slices.ContainsFunc(events, func(e AuditEvent) bool { return strings.HasSuffix(e.RequestURI, mark) }), err
	})
	if err != nil {
		tb.Fatalf("wait for the mark in the audit log: %v", err)
	}
}

// read parses the log from the offset on, and keeps the last stage of each request.
func (c *AuditCursor) read() ([]AuditEvent, error) {
	file, err := os.Open(c.cp.audit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(c.offset, io.SeekStart); err != nil {
		return nil, err
	}
	var events []AuditEvent
	position := map[string]int{} // by request ID
	for reader := bufio.NewReader(file); ; {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, nil // The rest is a line that is still being written.
		}
		if err != nil {
			return nil, err
		}
		event, err := parseAuditEvent(line)
		if err != nil {
			return nil, err
		}
		if i, known := position[event.ID]; known {
			events[i] = event
			continue
		}
		position[event.ID] = len(events)
		events = append(events, event)
	}
}

// auditLine is the part of audit.k8s.io/v1 Event that is used here.
type auditLine struct {
	AuditID    string `json:"auditID"`
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	UserAgent  string `json:"userAgent"`
	User       struct {
		Username string   `json:"username"`
		Groups   []string `json:"groups"`
	} `json:"user"`
	ImpersonatedUser *struct {
		Username string   `json:"username"`
		Groups   []string `json:"groups"`
	} `json:"impersonatedUser"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		APIGroup    string `json:"apiGroup"`
		APIVersion  string `json:"apiVersion"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
	StageTimestamp           time.Time `json:"stageTimestamp"`
}

func parseAuditEvent(line []byte) (AuditEvent, error) {
	var l auditLine
	if err := json.Unmarshal(line, &l); err != nil {
		return AuditEvent{}, fmt.Errorf("parse %.200q: %w", line, err)
	}
	user := l.User
	if l.ImpersonatedUser != nil {
		user = *l.ImpersonatedUser
	}
	return AuditEvent{
		ID:          l.AuditID,
		Stage:       l.Stage,
		Verb:        l.Verb,
		RequestURI:  l.RequestURI,
		UserAgent:   l.UserAgent,
		User:        user.Username,
		Groups:      user.Groups,
		APIGroup:    l.ObjectRef.APIGroup,
		APIVersion:  l.ObjectRef.APIVersion,
		Resource:    l.ObjectRef.Resource,
		Subresource: l.ObjectRef.Subresource,
		Namespace:   l.ObjectRef.Namespace,
		Name:        l.ObjectRef.Name,
		Code:        l.ResponseStatus.Code,
		Received:    l.RequestReceivedTimestamp,
		Completed:   l.StageTimestamp,
	}, nil
}
