// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package timeline says what the controller did for an Application, stage by stage, as its recorder knows it.
package timeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/debug"
)

// page is where the controller serves the live view, and root its API.
const (
	page = "/debug/pipeline/"
	root = page + debug.Version + "/"
)

// ErrUnknown is returned for an Application that the recorder knows nothing about.
var ErrUnknown = errors.New("the controller has recorded nothing about it: it may watch other namespaces, or not be the leader")

// maxAnswer is more than a controller with full rings answers.
const maxAnswer = 64 << 20

// Fetch asks a controller for what it recorded about one Application. The log has the address of the page, which will do too.
func Fetch(ctx context.Context, address, namespace, name string) (debug.Timeline, error) {
	address = strings.TrimSuffix(strings.TrimRight(address, "/")+"/", page)
	target, err := url.JoinPath(address, root, "keys", namespace, name)
	if err != nil {
		return debug.Timeline{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return debug.Timeline{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return debug.Timeline{}, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return debug.Timeline{}, ErrUnknown
	default:
		return debug.Timeline{}, fmt.Errorf("%s answers %s", target, answer.Status)
	}
	var found debug.Timeline
	err = json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&found)
	return found, err
}

// Print writes the events after the sequence, oldest first, and returns the last one. Each sync begins with why, and each line with the lead.
func Print(to *screen.Screen, lead string, events []debug.Event, after uint64) uint64 {
	for i := range events {
		event := &events[i]
		if event.Sequence <= after {
			continue
		}
		after = event.Sequence
		if event.Type == debug.TypeStarted {
			to.Blank()
		}
		at := lead + fmt.Sprintf("%s  %-11s ", event.Time.UTC().Format("15:04:05.000"), event.Stage)
		to.Hanging(at, describe(to, event))
	}
	return after
}

// describe puts an event into a line.
func describe(to *screen.Screen, event *debug.Event) string {
	parts := []string{to.Paint(screen.Bold, string(event.Type))}
	add := func(format string, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("%s", event.Verb)
	object := event.Resource
	if event.Object != nil {
		object = strings.Trim(object+" "+event.Object.Name, " ")
	}
	add("%s", object)
	add("%s", event.Result)
	add("because of %s", event.Reason)
	add("in %s", strings.Join(event.Fields, ", "))
	if event.Count > 0 {
		parts = append(parts, fmt.Sprintf("(%d)", event.Count))
	}
	if event.Milliseconds > 0 {
		parts = append(parts, to.Paint(screen.Dim, fmt.Sprintf("%.1f ms", event.Milliseconds)))
	}
	if event.Error != "" {
		parts = append(parts, to.Paint(screen.Red, "error: "+event.Error))
	}
	return strings.Join(parts, "  ")
}
