// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// lineQueue keeps lines between the kubelets and one client. It never blocks a writer: what does not fit is dropped and
// counted, and the client gets a line that says so.
type lineQueue struct {
	ctx   context.Context //nolint:containedctx // The life of the stream: Read ends with it.
	limit int             // bytes
	idle  time.Duration

	mu      sync.Mutex
	lines   []string
	bytes   int
	dropped int
	added   chan struct{} // has room for one: lines were added
	rest    []byte        // of the line that Read has begun
	ended   bool
}

func newLineQueue(ctx context.Context, limit int, idle time.Duration) *lineQueue {
	return &lineQueue{ctx: ctx, limit: limit, idle: idle, added: make(chan struct{}, 1)}
}

// add queues a line, with its newline.
func (q *lineQueue) add(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes+len(line) > q.limit {
		q.dropped++
		return
	}
	q.lines = append(q.lines, line)
	q.bytes += len(line)
	select {
	case q.added <- struct{}{}:
	default:
	}
}

// note queues a line of this server.
func (q *lineQueue) note(text string) { q.add(text + "\n") }

// Read implements io.Reader for the client.
func (q *lineQueue) Read(into []byte) (int, error) {
	for len(q.rest) == 0 {
		next, found := q.take()
		if found {
			q.rest = []byte(next)
			break
		}
		if q.ended {
			return 0, io.EOF
		}
		q.wait()
	}
	n := copy(into, q.rest)
	q.rest = q.rest[n:]
	return n, nil
}

// take returns the next line. After dropped ones that is a line about them, once what was queued before is read.
func (q *lineQueue) take() (string, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) > 0 {
		next := q.lines[0]
		q.lines = q.lines[1:]
		q.bytes -= len(next)
		return next, true
	}
	if q.dropped > 0 {
		next := fmt.Sprintf("fairlead: %d lines were dropped, because this stream is read too slowly\n", q.dropped)
		q.dropped = 0
		return next, true
	}
	return "", false
}

// wait returns when there are lines, or after the last one.
func (q *lineQueue) wait() {
	timer := time.NewTimer(q.idle)
	defer timer.Stop()
	select {
	case <-q.added:
	case <-timer.C:
		q.ended = true
		q.rest = fmt.Appendf(nil, "fairlead: no line for %s; the stream ends\n", q.idle)
	case <-q.ctx.Done():
		q.ended = true
		q.rest = []byte(lastLine(q.ctx))
	}
}
