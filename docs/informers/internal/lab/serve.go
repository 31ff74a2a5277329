// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"net/http"
	"net/http/httptest"

	"k8s.io/klog/v2"
)

// RoundTripper makes a function an [http.RoundTripper], to intercept the requests of a client.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f RoundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Serve serves TLS on a port of this machine, for an API server on the same machine. The caller must Close it.
func Serve(handler http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = klog.NewStandardLogger("INFO") // An API server that hangs up is no news.
	server.StartTLS()
	return server
}
