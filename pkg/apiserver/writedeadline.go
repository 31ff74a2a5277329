// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// lastLineTime is how long a client may take for the last lines of a stream that has ended.
const lastLineTime = 5 * time.Second

type controllerKey struct{}

// withController puts the controller of each response into the context of its request: a rest.ResourceStreamer sees no response.
func withController(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), controllerKey{}, http.NewResponseController(w))))
	})
}

// writeDeadline ends a stream whose client takes no byte. The handler writes to the client until the client takes it, however
// long that is, so the end of what the handler reads does not end the stream.
type writeDeadline struct {
	controller *http.ResponseController
	idleTime   time.Duration

	mu     sync.Mutex
	last   time.Time // for the last lines; zero while the stream goes on
	closed bool
}

// newWriteDeadline begins with the request, given its context, and must be closed before the handler returns.
func newWriteDeadline(ctx context.Context, idleTime time.Duration) *writeDeadline {
	controller, _ := ctx.Value(controllerKey{}).(*http.ResponseController)
	return &writeDeadline{controller: controller, idleTime: idleTime, closed: controller == nil}
}

// reader returns what the handler should read. The client has the idle time to take what the handler has read.
func (d *writeDeadline) reader(from io.Reader) io.Reader { return &deadlineReader{from, d} }

type deadlineReader struct {
	io.Reader
	deadline *writeDeadline
}

// Read implements io.Reader.
func (r *deadlineReader) Read(into []byte) (int, error) {
	r.deadline.set(time.Time{}) // The client has taken all, and may wait.
	n, err := r.Reader.Read(into)
	r.deadline.set(time.Now().Add(r.deadline.idleTime))
	return n, err //nolint:wrapcheck // The handler wants io.EOF.
}

func (d *writeDeadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	if !d.last.IsZero() {
		at = d.last
	}
	_ = d.controller.SetWriteDeadline(at) // A connection without deadlines is none of this server's.
}

// finish is called at the end of the stream, while the handler may wait for the client.
func (d *writeDeadline) finish() {
	d.mu.Lock()
	d.last = time.Now().Add(min(lastLineTime, d.idleTime))
	d.mu.Unlock()
	d.set(time.Time{})
}

// close is the end: the response of a handler that has returned must not be touched.
func (d *writeDeadline) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}
