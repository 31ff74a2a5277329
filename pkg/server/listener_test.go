// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/util/cert"
)

// serve serves the handler on a free port until stop is called, which returns what Serve returned.
func serve(t *testing.T, handler http.Handler, tlsConfig *tls.Config) (address string, stop func() error) {
	t.Helper()
	listener, err := Listen(t.Context(), "test", "127.0.0.1:0", handler, tlsConfig)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- listener.Serve(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() })
	return listener.Addr().String(), stop
}

// get sends one request on its own connection.
func get(t *testing.T, address string, header http.Header, trusted *tls.Config) (code int, body string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	transport := &http.Transport{TLSClientConfig: trusted, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

func TestPortInUse(t *testing.T) {
	address, _ := serve(t, http.NotFoundHandler(), nil)
	_, err := Listen(t.Context(), "metrics", address, http.NotFoundHandler(), nil)
	if err == nil || !strings.Contains(err.Error(), "serve metrics: listen tcp "+address+": bind: address already in use") {
		t.Errorf("the error is %v", err)
	}
}

// After a stop, the listener accepts no new connection, and lets the running request finish.
func TestStopLetsRequestsEnd(t *testing.T) {
	entered, open := make(chan struct{}), make(chan struct{})
	address, stop := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-open
		_, _ = io.WriteString(w, "done")
	}), nil)
	type answer struct {
		code int
		body string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		code, body, err := get(t, "http://"+address, nil, nil)
		answered <- answer{code, body, err}
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for { // Until the stop has closed the listener.
		connection, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		_ = connection.Close()
	}
	select {
	case <-stopped:
		t.Error("it ended before the request did")
	default:
	}
	close(open)
	if got := <-answered; got.err != nil || got.body != "done" {
		t.Errorf("the answer is %+v", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("a stop is no error, but it returned %v", err)
	}
}

// provider has a certificate that tests replace.
type provider struct {
	mu               sync.Mutex
	certificate, key []byte
	listeners        []dynamiccertificates.Listener
}

func (p *provider) Name() string { return "test" }

func (p *provider) AddListener(listener dynamiccertificates.Listener) {
	p.listeners = append(p.listeners, listener)
}

func (p *provider) CurrentCertKeyContent() (certificate, key []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.certificate, p.key
}

// exchange creates a new certificate, and returns the config of a client that trusts it.
func (p *provider) exchange(t *testing.T) *tls.Config {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.certificate, p.key = certificate, key
	p.mu.Unlock()
	for _, listener := range p.listeners {
		listener.Enqueue()
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return &tls.Config{RootCAs: pool}
}

func TestS16TLS(t *testing.T) {
	source := &provider{}
	certificates := NewCertificates(source)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		certificates.Run(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	address, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }), certificates.Config())
	if _, _, err := get(t, "https://"+address, nil, &tls.Config{InsecureSkipVerify: true}); err == nil {
		t.Error("a handshake without a certificate succeeded")
	}
	// The same listener continues with each new certificate.
	for range 2 {
		trusted := source.exchange(t)
		for {
			code, body, err := get(t, "https://"+address, nil, trusted)
			if err == nil {
				if code != http.StatusOK || body != "HTTP/2.0" {
					t.Errorf("the answer is %d %s", code, body)
				}
				break
			}
			if t.Context().Err() != nil {
				t.Fatal(err)
			}
		}
		old := trusted.Clone()
		old.MaxVersion = tls.VersionTLS11
		if _, _, err := get(t, "https://"+address, nil, old); err == nil {
			t.Error("TLS 1.1 is accepted")
		}
	}
}
