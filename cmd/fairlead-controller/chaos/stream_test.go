// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"io"
	"sync/atomic"
)

// stream is the body of a watch.
type stream struct {
	io.ReadCloser
	connection *connection
	resource   string
	closed     chan struct{}
	// garble and truncate spoil what is read next, and end the stream.
	garble, truncate, done atomic.Bool
}

// open puts the faults around the body of a watch.
func (c *connection) open(resource string, body io.ReadCloser) io.ReadCloser {
	s := &stream{ReadCloser: body, connection: c, resource: resource, closed: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams[s] = true
	return s
}

// Read delivers nothing while the watch is frozen, or the process paused. What arrives meanwhile is kept back, and nothing is lost.
func (s *stream) Read(p []byte) (int, error) {
	if s.done.Load() {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := s.ReadCloser.Read(p)
	s.connection.mu.Lock()
	var thawed <-chan struct{} = s.connection.frozen[s.resource]
	s.connection.mu.Unlock()
	for _, flows := range []<-chan struct{}{thawed, s.connection.gate.held()} {
		if flows == nil {
			continue
		}
		select {
		case <-flows:
		case <-s.connection.dead:
			return 0, errBroken
		case <-s.closed:
			return 0, errBroken
		}
	}
	switch {
	case n == 0 || err != nil:
	case s.garble.Load():
		s.done.Store(true)
		for i := n / 2; i < n; i++ {
			p[i] ^= 0x55
		}
	case s.truncate.Load():
		s.done.Store(true)
		return n / 2, nil
	}
	return n, err
}

func (s *stream) Close() error {
	s.connection.mu.Lock()
	if s.connection.streams[s] {
		delete(s.connection.streams, s)
		close(s.closed)
	}
	s.connection.mu.Unlock()
	return s.ReadCloser.Close()
}

// streamsOf returns the open watches of a resource, or all.
func (n *network) streamsOf(resource string) []*stream {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []*stream
	for s := range n.streams {
		if resource == "" || s.resource == resource {
			found = append(found, s)
		}
	}
	return found
}
