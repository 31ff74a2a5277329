// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log" //nolint:depguard // http.Server takes no other logger for its connections.
	"net"
	"net/http"
	"time"

	"k8s.io/klog/v2"
)

const (
	// A client that sends its header or body slowly, or does not read the answer, does not keep a
	// connection for longer. A profile takes up to the write timeout.
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 2 * time.Minute
	// idleTimeout is longer than that of Go's clients, so that they close first: a server that closes
	// a connection while a request is on its way loses the request.
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	// endTimeout is how long requests may go on after a stop. A webhook has to answer within 5 seconds.
	endTimeout = 10 * time.Second
)

// Listener serves one handler at one address.
type Listener struct {
	name     string
	listener net.Listener
	server   *http.Server
}

// Listen opens the address, host:port, where port 0 is a free one. The name is for logs. tlsConfig
// nil means plain HTTP. Nothing is answered before Serve.
func Listen(ctx context.Context, name, address string, handler http.Handler, tlsConfig *tls.Config) (*Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve %s: %w", name, err)
	}
	logger := klog.FromContext(ctx).WithValues("server", name)
	return &Listener{
		name:     name,
		listener: listener,
		server: &http.Server{
			Handler:           handler,
			TLSConfig:         tlsConfig,
			ReadHeaderTimeout: readHeaderTimeout,
			ReadTimeout:       readTimeout,
			WriteTimeout:      writeTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeaderBytes,
			// Requests carry the logger. They do not end with ctx: a stop lets them finish.
			BaseContext: func(net.Listener) context.Context {
				return klog.NewContext(context.WithoutCancel(ctx), logger)
			},
			ErrorLog: log.New(connectionLog{logger}, "", 0),
		},
	}, nil
}

// Addr is where it listens: the address of Listen, with the port that a port 0 has become.
func (l *Listener) Addr() *net.TCPAddr {
	address, _ := l.listener.Addr().(*net.TCPAddr)
	return address
}

// Serve answers until ctx ends. Then it takes no new connection, lets the requests that run end, and
// returns. An error means that it stopped by itself.
func (l *Listener) Serve(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	logger.Info("Serving", "server", l.name, "address", l.Addr().String())
	failed := make(chan error, 1)
	go func() { failed <- l.serve() }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", l.name, err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := l.server.Shutdown(ending); err != nil {
		logger.Info("Requests were cut off", "server", l.name, "after", endTimeout, "cause", err)
		_ = l.server.Close() // It can only say again what Shutdown did.
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.name, err)
	}
	return nil
}

func (l *Listener) serve() error {
	if l.server.TLSConfig == nil {
		return l.server.Serve(l.listener)
	}
	return l.server.ServeTLS(l.listener, "", "")
}

// OnShutdown makes a handler be told that Serve is about to wait for its requests: one that streams has
// to end them. Call it before Serve.
func (l *Listener) OnShutdown(end func()) { l.server.RegisterOnShutdown(end) }

// Close is for a Listener that never served.
func (l *Listener) Close() { _ = l.listener.Close() }

// connectionLog takes what net/http says about connections. Most of it is a port scan, or a probe that
// hangs up during the handshake: nothing that this process did wrong.
type connectionLog struct{ logger klog.Logger }

func (l connectionLog) Write(message []byte) (int, error) {
	l.logger.V(2).Info("Connection", "message", string(message))
	return len(message), nil
}
