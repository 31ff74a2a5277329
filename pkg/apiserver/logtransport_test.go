// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	restclient "k8s.io/client-go/rest"
)

// TestS23LogTransport: of a log that the server does not read, the connection keeps little.
func TestS23LogTransport(t *testing.T) {
	const (
		log    = 3 << 20 // less than net/http keeps
		chunk  = 4 << 10
		bound  = maxLogBuffer + 2*chunk
		rounds = 50 // times that the server has sent no more
	)
	var sent atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/log" {
			return
		}
		for range log / chunk {
			if _, err := w.Write(bytes.Repeat([]byte("x"), chunk)); err != nil {
				return
			}
			sent.Add(chunk)
			_ = http.NewResponseController(w).Flush() // An error shows at the next write.
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	config := &restclient.Config{
		Host: server.URL, BearerToken: "token",
		TLSClientConfig: restclient.TLSClientConfig{CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
	}
	transport, err := NewLogTransport(config)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	get := func(path string) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	unread := get("/log")
	defer unread.Body.Close()
	if unread.ProtoMajor != 2 {
		t.Errorf("the protocol is %s", unread.Proto)
	}
	for last, same := int64(-1), 0; same < rounds; {
		now := sent.Load()
		if now > bound {
			t.Fatalf("of a log that nothing reads, the connection keeps %d bytes, want at most %d", now, bound)
		}
		same++
		if now != last {
			last, same = now, 0
		}
		if err := get("/other").Body.Close(); err != nil { // Another request on the same connection is answered.
			t.Fatal(err)
		}
		<-time.After(time.Millisecond)
	}
}
