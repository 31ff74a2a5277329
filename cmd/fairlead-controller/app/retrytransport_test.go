// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

// away is an API server that returns an error until some time.
type away struct {
	until    time.Time
	err      error
	attempts int
}

func (a *away) RoundTrip(request *http.Request) (*http.Response, error) {
	a.attempts++
	if time.Now().Before(a.until) {
		return nil, a.err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
}

func TestReconnecting(t *testing.T) {
	const outage = time.Minute
	for _, test := range []struct {
		name, query string
		err         error
		waits       bool
	}{
		{"a watch", "?watch=true&resourceVersion=5", errRefused, true},
		{"a list", "?resourceVersion=5", errRefused, false},
		{"a watch that is cut off", "?watch=true", net.ErrClosed, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
				server := &away{until: time.Now().Add(outage), err: test.err}
				request, err := http.NewRequestWithContext(klog.NewContext(t.Context(), logger), http.MethodGet, "https://127.0.0.1/apis"+test.query, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				response, err := newRetryTransport(server).RoundTrip(request)
				told := logger.GetSink().(ktesting.Underlier).GetBuffer().Data()
				if !test.waits {
					if !errors.Is(err, test.err) || server.attempts != 1 || len(told) != 0 {
						t.Errorf("%v after %d attempts, want %v after one; the log: %v", err, server.attempts, test.err, told)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				if late := time.Since(start) - outage; late > watchRetryPeriod {
					t.Errorf("it came back %s after the API server did", late)
				}
				if got, least := server.attempts, int(outage/watchRetryPeriod); got < least || got > 2*least+1 {
					t.Errorf("%d attempts in %s", got, outage)
				}
				if len(told) != 2 {
					t.Errorf("an outage is told by %d lines, want one at its begin and one at its end: %v", len(told), told)
				}
			})
		})
	}
}

// A controller that stops does not wait for an API server.
func TestReconnectingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), klog.Logger{}))
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1/apis?watch=true", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			response, err := newRetryTransport(&away{until: time.Now().Add(time.Hour), err: errRefused}).RoundTrip(request)
			if response != nil {
				err = errors.Join(err, response.Body.Close())
			}
			ended <- err
		}()
		synctest.Wait() // It was refused, and waits to try again.
		start := time.Now()
		cancel()
		if err := <-ended; !errors.Is(err, syscall.ECONNREFUSED) || time.Since(start) != 0 {
			t.Errorf("%v after %s, want what kept it waiting at once", err, time.Since(start))
		}
	})
}
