// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	clientrest "k8s.io/client-go/rest"
)

// PodConnections connects with pods through kube-apiserver, as this server.
type PodConnections struct {
	server    *url.URL
	transport http.RoundTripper
}

// NewPodConnections returns the connections of a client. They speak HTTP/1.1, since HTTP/2 has no upgrades of this kind.
func NewPodConnections(config *clientrest.Config) (*PodConnections, error) {
	server, _, err := clientrest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("find the address of kube-apiserver: %w", err)
	}
	server.Path = strings.TrimSuffix(server.Path, "/") + "/" // Without a path, JoinPath would return a relative one.
	tlsConfig, err := clientrest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("make TLS configuration: %w", err)
	}
	if tlsConfig != nil {
		tlsConfig.NextProtos = []string{"http/1.1"}
	}
	transport, err := clientrest.HTTPWrappersForConfig(config, &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: config.Dial, TLSClientConfig: tlsConfig, TLSHandshakeTimeout: 10 * time.Second,
	})
	if err != nil {
		return nil, fmt.Errorf("authenticate to kube-apiserver: %w", err)
	}
	return &PodConnections{server: server, transport: transport}, nil
}

func (c *PodConnections) location(namespace, pod, subresource string, query url.Values) *url.URL {
	location := c.server.JoinPath("api", "v1", "namespaces", namespace, "pods", pod, subresource)
	location.RawQuery = query.Encode()
	return location
}

const (
	errIdle endError = "the connection was idle for too long"
	// bearerProtocol begins a websocket protocol that is a token.
	bearerProtocol = "base64url.bearer.authorization.k8s.io."
)

// forwardedHeaders are what an upgrade consists of. All else stays here, above all what says who asks: kube-apiserver must see this
// server, which has asked whether the user may do this. The audit ID lets an auditor find both requests by one ID.
var forwardedHeaders = []string{
	"Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Protocol", "X-Stream-Protocol-Version", "Audit-Id",
}

func forwarded(from http.Header) http.Header {
	to := http.Header{}
	for _, name := range forwardedHeaders {
		for _, value := range from.Values(name) {
			if value = withoutTokens(value); value != "" {
				to.Add(name, value)
			}
		}
	}
	return to
}

// withoutTokens removes the tokens from a list of websocket protocols.
func withoutTokens(value string) string {
	if !strings.Contains(value, bearerProtocol) {
		return value
	}
	var kept []string
	for protocol := range strings.SplitSeq(value, ",") {
		if protocol = strings.TrimSpace(protocol); !strings.HasPrefix(protocol, bearerProtocol) {
			kept = append(kept, protocol)
		}
	}
	return strings.Join(kept, ", ")
}

// podStream connects one user with one pod, and passes bytes on without reading them.
type podStream struct {
	registry    *connector
	application string
	location    *url.URL
	responder   rest.Responder
}

// ServeHTTP serves until either side ends the connection, or a limit does.
func (s *podStream) ServeHTTP(w http.ResponseWriter, incoming *http.Request) {
	ctx := incoming.Context()
	user, known := request.UserFrom(ctx)
	if !known {
		s.responder.Error(apierrors.NewInternalError(errors.New("the request has no user")))
		return
	}
	if incoming.Header.Get("Upgrade") == "" {
		s.responder.Error(apierrors.NewBadRequest("the request must ask for an upgrade to websockets or SPDY"))
		return
	}
	release, err := s.registry.streams.acquire(user.GetName())
	if err != nil {
		s.responder.Error(err)
		return
	}
	defer release()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ctx, stopTimer := context.WithTimeoutCause(ctx, s.registry.limits.TotalTime, errTotalTime)
	defer stopTimer()
	go guard(ctx, end, s.registry.stopping, func(ctx context.Context) error { return s.registry.mayConnect(ctx, s.application) })

	connecting := &httputil.ReverseProxy{
		Transport: s.registry.pods.transport, Rewrite: s.rewrite,
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			s.responder.Error(apierrors.NewServiceUnavailable("connect with the pod: " + err.Error()))
		},
	}
	connecting.ServeHTTP(&limitedWriter{ResponseWriter: w, ctx: ctx, end: end, idleTime: s.registry.limits.IdleTime}, incoming.WithContext(ctx))
}

// rewrite makes the request of this server from the user's.
func (s *podStream) rewrite(proxied *httputil.ProxyRequest) {
	out := proxied.Out
	out.URL, out.Host, out.Header = s.location, s.location.Host, forwarded(proxied.In.Header)
	out.Body, out.ContentLength, out.TransferEncoding = http.NoBody, 0, nil // An upgrade has none.
}

// limitedWriter hands over the connection to the user, and closes it when the context ends or no byte passes for too long.
type limitedWriter struct {
	http.ResponseWriter
	ctx      context.Context //nolint:containedctx // The life of the stream.
	end      context.CancelCauseFunc
	idleTime time.Duration
}

// Unwrap lets http.ResponseController find what the embedded writer can do.
func (w *limitedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker.
func (w *limitedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, fmt.Errorf("take over the connection: %w", err)
	}
	limited := &limitedConn{Conn: conn, idleTime: w.idleTime, idle: time.AfterFunc(w.idleTime, func() { w.end(errIdle) })}
	context.AfterFunc(w.ctx, func() {
		limited.idle.Stop()
		_ = conn.Close() // Both directions end with it.
	})
	return limited, buffered, nil
}

// limitedConn notes that bytes pass.
type limitedConn struct {
	net.Conn
	idleTime time.Duration
	idle     *time.Timer
}

// Read implements net.Conn.
func (c *limitedConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if n > 0 {
		c.idle.Reset(c.idleTime)
	}
	return n, err //nolint:wrapcheck // The proxy wants io.EOF.
}

// Write implements net.Conn.
func (c *limitedConn) Write(from []byte) (int, error) {
	n, err := c.Conn.Write(from)
	if n > 0 {
		c.idle.Reset(c.idleTime)
	}
	return n, err //nolint:wrapcheck // As for Read.
}
