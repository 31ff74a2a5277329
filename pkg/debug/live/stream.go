// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"fairlead.dev/fairlead/pkg/debug"
)

// The events of a stream.
const (
	streamSnapshot  = "snapshot"
	streamDelta     = "delta"
	streamHeartbeat = "heartbeat"
)

const (
	// A stream sends new events every eventsEvery, and other changes every numbersEvery.
	eventsEvery  = 250 * time.Millisecond
	numbersEvery = time.Second
	// heartbeatEvery limits the silence of a stream, so that proxies keep it open and a page notices its end.
	heartbeatEvery = 10 * time.Second
	// writeTimeout is how long a client may take to read a message.
	writeTimeout = 20 * time.Second
	// maxEvents limits the events of one delta. A client that is further behind than snapshotBehind gets a snapshot
	// instead.
	maxEvents      = 1000
	snapshotBehind = 4 * maxEvents
	// retryAfter is when a client should reconnect.
	retryAfter = 2 * time.Second
)

// stream sends a snapshot and then changes, until the client or the server ends it. It buffers nothing: while a client
// does not read, the events stay in the recorder. If the recorder has dropped them by then, the client gets a new
// snapshot.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case h.streams <- struct{}{}:
		defer func() { <-h.streams }()
	default:
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
		http.Error(w, "Too many streams are open", http.StatusServiceUnavailable)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would buffer the events.
	if r.Method == http.MethodHead {
		return
	}
	leave := h.source.Viewing()
	defer leave()
	control := http.NewResponseController(w)
	// The server's time limits are for requests that end. Only the writer of a test has none.
	_ = control.SetReadDeadline(time.Time{})
	s := &stream{source: h.source, filter: eventFilter(newQuery(r)), writer: w, control: control}
	s.run(r, h.closing)
}

// stream is an open stream.
type stream struct {
	source  Source
	filter  debug.Filter
	writer  http.ResponseWriter
	control *http.ResponseController

	instance string
	sequence uint64
	sent     debug.Delta // the last message, without events
	silent   time.Time   // since when
}

func (s *stream) run(r *http.Request, closing <-chan struct{}) {
	if _, err := fmt.Fprintf(s.writer, "retry: %d\n\n", retryAfter.Milliseconds()); err != nil {
		return
	}
	if err := s.begin(lastEventID(r)); err != nil {
		return
	}
	events, numbers := time.NewTicker(eventsEvery), time.NewTicker(numbersEvery)
	defer events.Stop()
	defer numbers.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return
		case <-closing:
			return
		case <-events.C:
			err = s.proceed(false)
		case <-numbers.C:
			err = s.proceed(true)
		}
		if err != nil {
			return
		}
	}
}

// lastEventID returns how far a client got before it lost the stream. EventSource sends the header only when it
// reconnects without the page's help.
func lastEventID(r *http.Request) string {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	return r.URL.Query().Get("lastEventId")
}

// begin resumes where the client stopped, if the recorder still has the following events. Otherwise it sends a snapshot.
func (s *stream) begin(last string) error {
	snapshot := s.source.Snapshot()
	instance, number, _ := strings.Cut(last, ".")
	sequence, err := strconv.ParseUint(number, 10, 64)
	if err == nil && instance == snapshot.Instance && sequence <= snapshot.Sequence && sequence+1 >= snapshot.Oldest {
		s.instance, s.sequence = instance, sequence
		return s.proceed(true)
	}
	return s.restart(snapshot)
}

func (s *stream) restart(snapshot debug.Snapshot) error {
	if s.filter != (debug.Filter{}) {
		filter := s.filter
		filter.Limit = len(snapshot.Events)
		snapshot.Events = s.source.Events(filter).Events
	}
	s.instance, s.sequence = snapshot.Instance, snapshot.Sequence
	s.sent = numbersOf(snapshot)
	return s.send(streamSnapshot, snapshot)
}

// proceed sends what is new; numbers includes the numbers.
func (s *stream) proceed(numbers bool) error {
	filter := s.filter
	filter.Since = s.sequence
	list := s.source.Events(filter)
	if list.Truncated || len(list.Events) > snapshotBehind {
		return s.restart(s.source.Snapshot())
	}
	delta := debug.Delta{Time: list.Time, Working: s.sent.Working}
	delta.Events = list.Events[:min(len(list.Events), maxEvents)]
	s.sequence = list.Sequence
	if left := len(list.Events) - len(delta.Events); left > 0 {
		s.sequence = delta.Events[len(delta.Events)-1].Sequence
	}
	delta.Sequence = s.sequence
	changed := len(delta.Events) > 0
	if numbers {
		if now := numbersOf(s.source.Snapshot()); !reflect.DeepEqual(now, s.sent) {
			s.sent = now
			delta.Working, delta.Stages, delta.Resources, delta.Queue, delta.Failing = now.Working, now.Stages, now.Resources, now.Queue, now.Failing
			changed = true
		}
	}
	switch {
	case changed:
		return s.send(streamDelta, delta)
	case time.Since(s.silent) >= heartbeatEvery:
		return s.send(streamHeartbeat, map[string]time.Time{"time": time.Now().UTC()})
	default:
		return nil
	}
}

// numbersOf returns the parts of a snapshot that a delta repeats if they changed.
func numbersOf(snapshot debug.Snapshot) debug.Delta {
	return debug.Delta{
		Working: snapshot.Working, Stages: snapshot.Stages, Resources: snapshot.Resources, Queue: &snapshot.Queue, Failing: &snapshot.Failing,
	}
}

// send writes one event of the stream. Encoded JSON has no line break, so it is one line of data.
func (s *stream) send(event string, data any) error {
	encoded, err := json.Marshal(data)
	if err != nil {
		return err
	}
	var message bytes.Buffer
	fmt.Fprintf(&message, "event: %s\nid: %s.%d\ndata: ", event, s.instance, s.sequence)
	message.Write(encoded)
	message.WriteString("\n\n")
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // As above.
	if _, err := s.writer.Write(message.Bytes()); err != nil {
		return err
	}
	s.silent = time.Now()
	return s.control.Flush()
}
