// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"io"
	"net"
	"net/http"
	"sync"
)

// shares divides a limited number of units among the addresses that requests come from. No source gets
// all of them, so one pod that floods the port leaves room for the API server. It is safe for concurrent
// use.
type shares struct {
	total, perSource int

	mu       sync.Mutex
	taken    int
	bySource map[string]int
}

func newShares(total, perSource int) *shares {
	return &shares{total: total, perSource: perSource, bySource: map[string]int{}}
}

// take reserves n units and reports whether they were free.
func (s *shares) take(source string, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken+n > s.total || s.bySource[source]+n > s.perSource {
		return false
	}
	s.taken += n
	s.bySource[source] += n
	return true
}

// give returns units that take reserved.
func (s *shares) give(source string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken -= n
	if s.bySource[source] -= n; s.bySource[source] == 0 {
		delete(s.bySource, source)
	}
}

// sourceOf is the address of the client. Clients behind one node address share what that address gets.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// accounted is a body that takes a byte of the shares for each byte it has delivered. A client pays for
// what it sent, not for what it announced.
type accounted struct {
	io.ReadCloser
	bytes  *shares
	source string
	held   int
}

// Read implements io.Reader.
func (a *accounted) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if n > 0 {
		if !a.bytes.take(a.source, n) {
			return 0, errBusy
		}
		a.held += n
	}
	return n, err
}

// release gives the bytes back, once nothing refers to them any more.
func (a *accounted) release() {
	a.bytes.give(a.source, a.held)
	a.held = 0
}
