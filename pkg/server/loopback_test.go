// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/component-base/metrics"
)

// A web page may make its own name resolve to 127.0.0.1, and send requests as if to its own server.
func TestS19LoopbackNamesOnly(t *testing.T) {
	handler := LoopbackNamesOnly(MetricsHandler(metrics.NewKubeRegistry(), true))
	for host, code := range map[string]int{
		"127.0.0.1:6060": 200, "localhost": 200, "[::1]:6060": 200, "127.0.0.2": 200,
		"evil.example": 421, "localhost.evil.example:6060": 421, "10.0.0.1": 421, "": 421,
	} {
		for _, path := range []string{"/metrics", "/debug/pprof/cmdline"} {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
			request.Host = host
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if answer.Code != code {
				t.Errorf("%s of %q: got %d, want %d", path, host, answer.Code, code)
			}
		}
	}
}
