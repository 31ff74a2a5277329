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
	// A client that sends its header or body slowly, or does not read the response, cannot hold a connection for longer
	// than this. A profile may take up to the write timeout.
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 2 * time.Minute
	// idleTimeout is longer than that of Go's clients, so that they close first. A server that closes a connection
	// loses a request that is already on its way.
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	// endTimeout is how long running requests may take after a stop. A webhook must answer within 5 seconds.
	endTimeout = 10 * time.Second
)

// Listener serves one handler at one address.
type Listener struct {
	name     string
	listener net.Listener
	server   *http.Server
}

// Listen opens the address, host:port; port 0 selects a free port. The name is for logs. With a nil tlsConfig it
// serves plain HTTP. It answers no request before Serve.
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
			// Requests carry the logger. They do not end with ctx, so that a stop lets them finish.
			BaseContext: func(net.Listener) context.Context {
				return klog.NewContext(context.WithoutCancel(ctx), logger)
			},
			ErrorLog: log.New(connectionLog{logger}, "", 0),
		},
	}, nil
}

// Addr returns the address on which it listens, with the selected port if Listen got port 0.
func (l *Listener) Addr() *net.TCPAddr {
	address, _ := l.listener.Addr().(*net.TCPAddr)
	return address
}

// Serve answers requests until ctx ends. Then it accepts no new connection, lets running requests finish, and
// returns. An error means that it stopped before ctx ended, or was stopped by force.
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
		logger.Info("Running requests did not finish; closing their connections", "server", l.name, "after", endTimeout, "cause", err)
		_ = l.server.Close() // Its error can only repeat that of Shutdown.
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

// OnShutdown calls end when Serve is about to wait for running requests, so that a handler can end its streams. Call
// it before Serve.
func (l *Listener) OnShutdown(end func()) { l.server.RegisterOnShutdown(end) }

// Close closes a Listener that never served.
func (l *Listener) Close() { _ = l.listener.Close() }

// connectionLog logs the messages of net/http about connections. Most are about a port scan, or a probe that closes
// the connection during the handshake. They are no errors of this process.
type connectionLog struct{ logger klog.Logger }

func (l connectionLog) Write(message []byte) (int, error) {
	l.logger.V(2).Info("Connection", "message", string(message))
	return len(message), nil
}
