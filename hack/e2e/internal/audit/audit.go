// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package audit reads the API server's audit log: who wrote what, and when. It is the test's oracle, since it does not
// depend on what the operator says about itself.
package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// podName is the key under which the API server keeps the pod that a service account's token was made for.
const podName = "authentication.kubernetes.io/pod-name"

// Event is one request.
type Event struct {
	Verb        string
	User        string
	Pod         string // empty unless a pod's service account asked
	Group       string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	Code        int
	Received    time.Time
}

// String is the request in short.
func (e Event) String() string {
	resource := e.Resource
	if e.Subresource != "" {
		resource += "/" + e.Subresource
	}
	return fmt.Sprintf("%s %s %s %s/%s -> %d by %s", e.Received.Format("15:04:05.000"), e.Verb, resource, e.Namespace, e.Name, e.Code, e.Pod)
}

// IsWrite tells whether the request could change something.
func (e Event) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

// Log is an audit log that is being written.
type Log struct {
	File string
}

// End is the place where the log ends now.
func (l Log) End() (offset int64, err error) {
	info, err := os.Stat(l.File)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Since returns the answered requests whose lines come after the offset and that want accepts, in the order of their
// answers.
func (l Log) Since(offset int64, want func(Event) bool) ([]Event, error) {
	file, err := os.Open(l.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
	return read(file, want)
}

func read(lines io.Reader, want func(Event) bool) ([]Event, error) {
	var events []Event
	for reader := bufio.NewReader(lines); ; {
		text, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, nil // The rest is a line that is still being written.
		}
		if err != nil {
			return nil, err
		}
		event, complete, err := parse(text)
		if err != nil {
			return nil, err
		}
		if complete && want(event) {
			events = append(events, event)
		}
	}
}

// line is the part of an audit.k8s.io/v1 Event that is used here.
type line struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"`
	User  struct {
		Username string              `json:"username"`
		Extra    map[string][]string `json:"extra"`
	} `json:"user"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
}

func parse(text []byte) (event Event, complete bool, err error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return Event{}, false, fmt.Errorf("parse %.200q of the audit log: %w", text, err)
	}
	return Event{
		Verb:        l.Verb,
		User:        l.User.Username,
		Pod:         strings.Join(l.User.Extra[podName], ","),
		Group:       l.ObjectRef.APIGroup,
		Resource:    l.ObjectRef.Resource,
		Subresource: l.ObjectRef.Subresource,
		Namespace:   l.ObjectRef.Namespace,
		Name:        l.ObjectRef.Name,
		Code:        l.ResponseStatus.Code,
		Received:    l.RequestReceivedTimestamp,
	}, l.Stage == "ResponseComplete", nil
}
