// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// flooding is a log without an end.
func flooding(ctx context.Context, _, _ string, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
	reader, writer := io.Pipe()
	go func() {
		line := []byte(strings.Repeat("x", 1<<10) + "\n")
		for ctx.Err() == nil {
			if _, err := writer.Write(line); err != nil {
				return
			}
		}
	}()
	context.AfterFunc(ctx, func() { _ = writer.CloseWithError(ctx.Err()) })
	return reader, nil
}

// TestS23UnreadStream: a client that opens a stream and reads nothing of it cannot keep it open beyond its limits, over either
// version of HTTP: neither beyond the total time, nor for longer than the idle time.
func TestS23UnreadStream(t *testing.T) {
	for limit, limits := range map[string]func(*Limits){
		"idle time":  func(l *Limits) { l.IdleTime = 50 * time.Millisecond },
		"total time": func(l *Limits) { l.TotalTime = 50 * time.Millisecond },
	} {
		for name, options := range map[string]*v1alpha1.ApplicationLogOptions{"merged": {}, "followed": follow} {
			for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
				t.Run(limit+" of "+name+" over "+protocol, func(t *testing.T) {
					t.Parallel()
					set := DefaultLimits()
					limits(&set)
					registry := logsOf(t, allowed, set, flooding, "app")
					ended := make(chan struct{})
					server := httptest.NewUnstartedServer(withController(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						defer close(ended)
						// As the handler of k8s.io/apiserver does.
						log, err := stream(r.Context(), registry, options)
						if err != nil {
							t.Error(err)
							return
						}
						defer log.Close()
						_, _ = io.Copy(w, log)
					})))
					server.EnableHTTP2 = protocol == "HTTP/2.0"
					server.StartTLS()
					defer server.Close()
					request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
					if err != nil {
						t.Fatal(err)
					}
					response, err := server.Client().Do(request)
					if err != nil {
						t.Fatal(err)
					}
					defer response.Body.Close()
					if response.Proto != protocol {
						t.Fatalf("the server speaks %s", response.Proto)
					}
					<-ended
					if registry.streams.open != 0 || len(registry.readers) != 0 {
						t.Errorf("%d streams and %d logs are open", registry.streams.open, len(registry.readers))
					}
				})
			}
		}
	}
}
