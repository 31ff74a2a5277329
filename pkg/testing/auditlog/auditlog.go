// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package auditlog reads the API server's audit log: which client requested what, and when. Tests and measurements rely on
// it, because it does not depend on what a client reports about itself.
package auditlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// The stages of a request. The log may have more than one line per request; a watch has one when it begins.
const (
	ResponseStarted  = "ResponseStarted"
	ResponseComplete = "ResponseComplete"
)

// podName is the key under which the API server records the pod of a service account's token.
const podName = "authentication.kubernetes.io/pod-name"

// Event is a request as the API server saw it.
type Event struct {
	ID          string
	Stage       string // ResponseComplete; ResponseStarted for a watch that still runs; Panic
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	RequestURI  string
	UserAgent   string
	User        string
	Groups      []string
	Pod         string // empty unless a pod's service account asked
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

// Target returns what the request is about: pods/status, for example, or the URI if it is not about a resource.
func (e Event) Target() string {
	switch {
	case e.Resource == "":
		return e.RequestURI
	case e.Subresource == "":
		return e.Resource
	default:
		return e.Resource + "/" + e.Subresource
	}
}

// String returns what you want to read in the message of a failed test.
func (e Event) String() string {
	who := e.Pod
	if who == "" {
		who = e.UserAgent
	}
	return fmt.Sprintf("%s %s %s %s/%s -> %d (%s)", e.Received.Format("15:04:05.000"), e.Verb, e.Target(), e.Namespace, e.Name, e.Code, who)
}

// IsWrite reports whether the request may change something. Creating a review changes nothing.
func (e Event) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb) &&
		!slices.Contains([]string{"selfsubjectaccessreviews", "subjectaccessreviews", "tokenreviews"}, e.Resource)
}

// Log is an audit log that an API server is writing, with one JSON object per line.
type Log struct {
	File string
}

// End returns the offset after the last complete line. A line that is still being written comes after it.
func (l Log) End() (offset int64, err error) {
	file, err := os.Open(l.File)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	if offset, err = file.Seek(0, io.SeekEnd); err != nil {
		return 0, err
	}
	for part := make([]byte, 1<<12); offset > 0; {
		part = part[:min(int64(cap(part)), offset)]
		before := offset - int64(len(part))
		if _, err := file.ReadAt(part, before); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return before + int64(i) + 1, nil
		}
		offset = before
	}
	return 0, nil
}

// Since returns the requests after the offset that want accepts, in the order of completion, each once and in its
// last stage. next is the offset at which to continue.
func (l Log) Since(offset int64, want func(*Event) bool) (events []Event, next int64, err error) {
	file, err := os.Open(l.File)
	if err != nil {
		return nil, offset, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, offset, err
	}
	position := map[string]int{} // by request ID
	next = offset
	for reader := bufio.NewReaderSize(file, 1<<16); ; {
		text, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, next, nil // The rest is an incomplete line.
		}
		if err != nil {
			return nil, offset, err
		}
		event, err := parse(text)
		if err != nil {
			return nil, offset, err
		}
		next += int64(len(text))
		if !want(&event) {
			continue
		}
		if i, known := position[event.ID]; known && event.ID != "" {
			events[i] = event
			continue
		}
		position[event.ID] = len(events)
		events = append(events, event)
	}
}

// line is the part of an audit.k8s.io/v1 Event that this package uses.
type line struct {
	AuditID    string `json:"auditID"`
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	UserAgent  string `json:"userAgent"`
	User       struct {
		Username string              `json:"username"`
		Groups   []string            `json:"groups"`
		Extra    map[string][]string `json:"extra"`
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

func parse(text []byte) (Event, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return Event{}, fmt.Errorf("parse %.200q of the audit log: %w", text, err)
	}
	user, groups := l.User.Username, l.User.Groups
	if l.ImpersonatedUser != nil {
		user, groups = l.ImpersonatedUser.Username, l.ImpersonatedUser.Groups
	}
	return Event{
		ID:          l.AuditID,
		Stage:       l.Stage,
		Verb:        l.Verb,
		RequestURI:  l.RequestURI,
		UserAgent:   l.UserAgent,
		User:        user,
		Groups:      groups,
		Pod:         strings.Join(l.User.Extra[podName], ","),
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
