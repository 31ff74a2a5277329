// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// brokenOff is an answer whose body ends too soon.
const brokenOff = -1

// TestInsistent repeats a request with its body while the server cannot answer, and takes every answer.
func TestInsistent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		answers []int
		message string
		want    int
	}{
		{"an outage ends", []int{500, 503, 201}, "etcdserver: request timed out", 201},
		{"an answer breaks off", []int{brokenOff, 201}, "created", 201},
		{"an answer", []int{409}, "", 409},
		{"a webhook", []int{500}, "failed calling webhook", 500},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var bodies []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(body))
				answer := test.answers[min(len(bodies), len(test.answers))-1]
				if answer == brokenOff {
					w.Header().Set("Content-Length", "100")
					_, _ = io.WriteString(w, "{")
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
				http.Error(w, test.message, answer)
			}))
			defer server.Close()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			response, err := insistent{server.Client().Transport}.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			message, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || response.StatusCode != test.want || strings.TrimSpace(string(message)) != test.message {
				t.Errorf("got %s %q, %v; want %d %q", response.Status, message, err, test.want, test.message)
			}
			server.Close() // Waits for the handler.
			if got := strings.Join(bodies, " "); got != strings.TrimSpace(strings.Repeat("body ", len(test.answers))) {
				t.Errorf("the server got %q, want %d requests with the body", got, len(test.answers))
			}
		})
	}
}
