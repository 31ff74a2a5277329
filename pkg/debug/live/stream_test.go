// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/debug"
)

// client reads a stream, in a bubble of testing/synctest: time passes while it waits.
type client struct {
	*testing.T
	header   http.Header
	code     int
	messages chan message
	ended    chan struct{}
	leave    context.CancelFunc
	// gate holds writes back while it is locked, as a client does that does not read.
	gate chan struct{}
	part strings.Builder
}

type message struct{ event, id, data string }

// connect opens a stream.
func connect(t *testing.T, h http.Handler, query, lastEventID string) *client {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	c := &client{
		T: t, header: http.Header{}, code: http.StatusOK, messages: make(chan message, 10_000), ended: make(chan struct{}), leave: leave, gate: make(chan struct{}, 1),
	}
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/debug/pipeline/v1/stream"+query, nil)
	if lastEventID != "" {
		request.Header.Set("Last-Event-ID", lastEventID)
	}
	go func() {
		defer close(c.ended)
		h.ServeHTTP(c, request)
	}()
	return c
}

func (c *client) Header() http.Header  { return c.header }
func (c *client) WriteHeader(code int) { c.code = code }
func (c *client) Flush()               {}

func (c *client) Write(text []byte) (int, error) {
	c.gate <- struct{}{}
	defer func() { <-c.gate }()
	c.part.Write(text)
	for {
		one, rest, whole := strings.Cut(c.part.String(), "\n\n")
		if !whole {
			return len(text), nil
		}
		c.part.Reset()
		c.part.WriteString(rest)
		var m message
		for line := range strings.SplitSeq(one, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "event":
				m.event = value
			case "id":
				m.id = value
			case "data":
				m.data = value
			}
		}
		if m.event != "" {
			c.messages <- m
		}
	}
}

// next waits for a message, which must be of that event, and decodes it.
func next[T any](c *client, event string) (data T, id string) {
	c.Helper()
	m := <-c.messages
	if m.event != event {
		c.Fatalf("the next event is %s %s, want %s", m.event, m.data, event)
	}
	if err := json.Unmarshal([]byte(m.data), &data); err != nil {
		c.Fatalf("%s: %v", m.data, err)
	}
	return data, m.id
}

// quiet waits until the rates have come to rest, so that nothing is told any more.
func (c *client) quiet() {
	<-time.After(debug.RateWindow + 3*time.Second)
	synctest.Wait()
	for len(c.messages) > 0 {
		<-c.messages
	}
}

func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := debug.New()
		oneSync(recorder, web)
		h := New(recorder, Options{})
		c := connect(t, h, "", "")
		snapshot, id := next[debug.Snapshot](c, streamSnapshot)
		if snapshot.Viewers != 1 || len(snapshot.Events) != 8 || id != fmt.Sprintf("%s.%d", snapshot.Instance, snapshot.Sequence) {
			t.Errorf("%s: %d viewers and %d events", id, snapshot.Viewers, len(snapshot.Events))
		}
		c.quiet()

		began := time.Now()
		oneSync(recorder, web)
		delta, id := next[debug.Delta](c, streamDelta)
		if took := time.Since(began); took > eventsEvery {
			t.Errorf("it took %s", took)
		}
		if len(delta.Events) != 8 || delta.Events[0].Sequence != snapshot.Sequence+1 || id != fmt.Sprintf("%s.%d", snapshot.Instance, delta.Sequence) {
			t.Errorf("%s has %d events, from %d", id, len(delta.Events), delta.Events[0].Sequence)
		}
		if numbers, _ := next[debug.Delta](c, streamDelta); len(numbers.Stages) != len(debug.Stages()) || len(numbers.Events) > 0 {
			t.Errorf("then %+v", numbers)
		}

		c.quiet()
		next[map[string]time.Time](c, streamHeartbeat)
		last := time.Now()
		next[map[string]time.Time](c, streamHeartbeat)
		if silence := time.Since(last); silence > heartbeatEvery+numbersEvery {
			t.Errorf("a silence lasted %s", silence)
		}
		c.leave()
		<-c.ended
		if left := recorder.Snapshot().Viewers; left != 0 {
			t.Errorf("%d viewers are left", left)
		}
	})
}

func TestStreamOfOneKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := debug.New()
		other := cache.ObjectName{Namespace: "shop", Name: "cart"}
		oneSync(recorder, other)
		h := New(recorder, Options{})
		c := connect(t, h, "?namespace=shop&name=web", "")
		if snapshot, _ := next[debug.Snapshot](c, streamSnapshot); len(snapshot.Events) != 0 {
			t.Errorf("the snapshot has %+v", snapshot.Events)
		}
		oneSync(recorder, other)
		oneSync(recorder, web)
		delta, _ := next[debug.Delta](c, streamDelta)
		for _, event := range delta.Events {
			if *event.Key != debug.Name(web) {
				t.Errorf("it has an event of %+v", event.Key)
			}
		}
		h.Close()
		<-c.ended
	})
}

func TestStreamResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := debug.New()
		oneSync(recorder, web)
		h := New(recorder, Options{})
		first := connect(t, h, "", "")
		snapshot, id := next[debug.Snapshot](first, streamSnapshot)
		first.leave()
		<-first.ended
		oneSync(recorder, web)

		for _, again := range []*client{connect(t, h, "", id), connect(t, h, "?lastEventId="+id, "")} {
			delta, _ := next[debug.Delta](again, streamDelta)
			if len(delta.Events) != 8 || delta.Events[0].Sequence != snapshot.Sequence+1 || len(delta.Stages) == 0 {
				t.Errorf("it goes on with %d events", len(delta.Events))
			}
		}
		// Another run of the controller, a number that is not there yet, and no number.
		for _, id := range []string{"another.3", snapshot.Instance + ".999", snapshot.Instance + ".x", "x"} {
			next[debug.Snapshot](connect(t, h, "", id), streamSnapshot)
		}
		// So much has happened that the events are gone.
		for range 3000 {
			oneSync(recorder, web)
		}
		next[debug.Snapshot](connect(t, h, "", id), streamSnapshot)
		h.Close()
		synctest.Wait()
	})
}

// A client that does not read costs nothing: what it missed is told by a snapshot.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := debug.New()
		h := New(recorder, Options{})
		c := connect(t, h, "", "")
		next[debug.Snapshot](c, streamSnapshot)
		c.gate <- struct{}{}
		oneSync(recorder, web)
		<-time.After(time.Second) // The handler is stuck in its write.
		for range 3000 {
			oneSync(recorder, web)
		}
		<-c.gate
		next[debug.Delta](c, streamDelta) // What it was stuck with.
		snapshot, _ := next[debug.Snapshot](c, streamSnapshot)
		if len(snapshot.Events) != 200 || snapshot.Sequence != 3001*8 {
			t.Errorf("the snapshot has %d events, up to %d", len(snapshot.Events), snapshot.Sequence)
		}
		h.Close()
		<-c.ended
	})
}

// A burst that is not too large comes in several deltas, without a gap.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := debug.New()
		h := New(recorder, Options{})
		c := connect(t, h, "", "")
		next[debug.Snapshot](c, streamSnapshot)
		for range 300 {
			oneSync(recorder, web)
		}
		for want := uint64(1); want <= 2400; {
			delta, _ := next[debug.Delta](c, streamDelta)
			if len(delta.Events) > maxEvents {
				t.Fatalf("a delta has %d events", len(delta.Events))
			}
			for _, event := range delta.Events {
				if event.Sequence != want {
					t.Fatalf("after %d comes %d", want-1, event.Sequence)
				}
				want++
			}
		}
		h.Close()
		<-c.ended
	})
}

func TestTooManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(debug.New(), Options{Streams: 2})
		open := []*client{connect(t, h, "", ""), connect(t, h, "", "")}
		synctest.Wait()
		refused := connect(t, h, "", "")
		<-refused.ended
		if refused.code != http.StatusServiceUnavailable || refused.header.Get("Retry-After") != "2" {
			t.Errorf("the third one gets %d, Retry-After %q", refused.code, refused.header.Get("Retry-After"))
		}
		open[0].leave()
		<-open[0].ended
		next[debug.Snapshot](connect(t, h, "", ""), streamSnapshot)
		h.Close()
		synctest.Wait()
	})
}
