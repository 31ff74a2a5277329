// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"net/http"
	"net/http/httptest"

	"k8s.io/klog/v2"
)

// RoundTripper makes a function an [http.RoundTripper], for who puts something into the way of a client.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f RoundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Serve answers on a port of this machine, by TLS, for an API server that runs on it too. The caller must Close it.
func Serve(handler http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = klog.NewStandardLogger("INFO") // An API server that hangs up is no news.
	server.StartTLS()
	return server
}
