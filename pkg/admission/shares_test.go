// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
)

func TestShares(t *testing.T) {
	s := newShares(4, 3)
	steps := []struct {
		source string
		n      int
		want   bool
	}{
		{"a", 2, true}, {"a", 2, false}, {"a", 1, true}, {"a", 1, false}, // its share
		{"b", 2, false}, {"b", 1, true}, {"b", 1, false}, // all
	}
	for i, step := range steps {
		if got := s.take(step.source, step.n); got != step.want {
			t.Fatalf("step %d: take(%s, %d) = %t", i, step.source, step.n, got)
		}
	}
	s.give("a", 3)
	s.give("b", 1)
	if s.taken != 0 || len(s.bySource) != 0 {
		t.Errorf("after everything was given back, %d are taken, by %v", s.taken, s.bySource)
	}
}

// TestS16SlowBodies is an attack: a pod opens far more requests than there are slots, and sends the first byte
// of each. The API server, at another address, must get its answers meanwhile.
func TestS16SlowBodies(t *testing.T) {
	h := (&cluster{}).handler(t)
	server := httptest.NewServer(h)
	defer server.Close()
	for range 2 * maxBodies {
		slowPost(t, server.Listener.Addr().String(), "127.0.0.66")
	}
	body, err := json.Marshal(review(t, application(nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * DefaultMaxInFlight {
		response := postFrom(t, "127.0.0.1", server.URL+ValidatePath, string(body))
		if response != http.StatusOK {
			t.Fatalf("the API server got %d", response)
		}
	}
}

// TestS16OneSourceLeavesSlots is another one: valid reviews whose answers take long.
func TestS16OneSourceLeavesSlots(t *testing.T) {
	arrived, release := make(chan struct{}, DefaultMaxInFlight), make(chan struct{})
	c := &cluster{config: func(c *Config) {
		c.ReviewAccess = func(context.Context, authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
			arrived <- struct{}{}
			<-release
			return authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil
		}
	}}
	server := httptest.NewServer(c.handler(t))
	defer server.Close()
	slow, err := json.Marshal(review(t, application(withAccount("a")), nil))
	if err != nil {
		t.Fatal(err)
	}
	const share = DefaultMaxInFlight - DefaultMaxInFlight/4
	var flood sync.WaitGroup
	for range share {
		flood.Go(func() { postFrom(t, "127.0.0.66", server.URL+ValidatePath, string(slow)) })
		<-arrived
	}
	if got := postFrom(t, "127.0.0.66", server.URL+ValidatePath, string(slow)); got != http.StatusTooManyRequests {
		t.Errorf("one source gets more than its share: %d", got)
	}
	quick, err := json.Marshal(review(t, application(nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := postFrom(t, "127.0.0.1", server.URL+ValidatePath, string(quick)); got != http.StatusOK {
		t.Errorf("the API server got %d", got)
	}
	close(release)
	flood.Wait()
}

// slowPost begins a request and leaves it there until the test ends.
func slowPost(t *testing.T, address, source string) {
	t.Helper()
	connection, err := dialerFrom(source).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	_, err = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: webhook\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", ValidatePath)
	if err != nil {
		t.Fatal(err)
	}
}

// postFrom sends a review from an address of the loopback network, and returns the status.
func postFrom(t *testing.T, source, url, body string) int {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	request.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{DialContext: dialerFrom(source).DialContext, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func dialerFrom(source string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
}
