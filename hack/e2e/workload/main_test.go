// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestHandler(t *testing.T) {
	tests := []struct {
		name, path string
		ready      bool
		code       int
		body       string
	}{
		{name: "the version", path: "/", ready: true, code: http.StatusOK, body: "7"},
		{name: "work", path: "/work", ready: true, code: http.StatusOK, body: "7"},
		{name: "ready", path: "/readyz", ready: true, code: http.StatusOK, body: "ok"},
		{name: "not ready", path: "/readyz", code: http.StatusServiceUnavailable, body: "MODE=unready"},
		{name: "alive although not ready", path: "/healthz", code: http.StatusOK, body: "ok"},
		{name: "anything else", path: "/other", ready: true, code: http.StatusNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			handler("7", test.ready).ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.path, nil))
			if recorder.Code != test.code || !strings.HasPrefix(recorder.Body.String(), test.body) {
				t.Errorf("got %d %q, want %d %q", recorder.Code, recorder.Body, test.code, test.body)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	for mode, want := range map[string]string{"crash": "MODE=crash", "slow": "START_DELAY", "other": `MODE is "other"`} {
		err := run(t.Context(), func(name string) string { return map[string]string{"MODE": mode}[name] })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("MODE=%s: got %v, want an error about %s", mode, err, want)
		}
	}
}

// TestSlowStartEndsWithSIGTERM holds for a pod that is deleted before it serves.
func TestSlowStartEndsWithSIGTERM(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		began := time.Now()
		environment := map[string]string{"MODE": "slow", "START_DELAY": "1h"}
		if err := run(ctx, func(name string) string { return environment[name] }); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("it ended after %s, want 1s", waited)
		}
	})
}
