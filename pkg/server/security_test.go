// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// S16: a client loses its connection if it sends its header or its body slowly, or sends no further request.
func TestS16SlowClients(t *testing.T) {
	const short = 100 * time.Millisecond
	for _, test := range []struct {
		name, sends string
		shorten     func(*http.Server)
	}{
		{"header", "POST / HTTP/1.1\r\nHost: a\r\nX-", func(s *http.Server) { s.ReadHeaderTimeout = short }},
		{"body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{", func(s *http.Server) { s.ReadTimeout = short }},
		{"idle", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", func(s *http.Server) { s.IdleTimeout = short }},
	} {
		t.Run(test.name, func(t *testing.T) {
			listener, err := Listen(t.Context(), "test", "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadAll(r.Body); err != nil {
					w.WriteHeader(http.StatusRequestTimeout)
				}
			}), nil)
			if err != nil {
				t.Fatal(err)
			}
			// Each must have a limit. The test shortens them, because the real ones would take too long.
			s := listener.server
			for what, limit := range map[string]time.Duration{"header": s.ReadHeaderTimeout, "body": s.ReadTimeout, "answer": s.WriteTimeout, "idle": s.IdleTimeout} {
				if limit <= 0 || limit > 2*time.Minute {
					t.Errorf("the limit for %s is %s", what, limit)
				}
			}
			if s.MaxHeaderBytes <= 0 || s.MaxHeaderBytes > 1<<20 {
				t.Errorf("a header may have %d bytes", s.MaxHeaderBytes)
			}
			test.shorten(s)
			ended := make(chan error, 1)
			go func() { ended <- s.Serve(listener.listener) }()
			defer func() {
				_ = s.Close()
				<-ended
			}()

			connection, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = connection.Close() }()
			if _, err := io.WriteString(connection, test.sends); err != nil {
				t.Fatal(err)
			}
			if err := connection.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Fatal(err)
			}
			// The read ends when the server has closed the connection.
			var timeout net.Error
			if _, err := io.ReadAll(connection); errors.As(err, &timeout) && timeout.Timeout() {
				t.Error("the server keeps the connection")
			}
		})
	}
}
