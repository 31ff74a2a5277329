// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Certificates gives listeners the current certificate of a provider. A handshake before the first certificate fails.
// A handshake after a rotation gets the new one, without a restart.
type Certificates struct {
	config     *tls.Config
	provider   dynamiccertificates.CertKeyContentProvider
	controller *dynamiccertificates.DynamicServingCertificateController
	changed    chan struct{}
}

// NewCertificates returns the Certificates of a provider. It adds listeners to the provider, so call it before the
// provider runs.
func NewCertificates(provider dynamiccertificates.CertKeyContentProvider) *Certificates {
	// Go's cipher suites for TLS 1.2 are a good choice, and those for TLS 1.3 are fixed.
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	c := &Certificates{
		config:     config.Clone(),
		provider:   provider,
		controller: dynamiccertificates.NewDynamicServingCertificateController(config, nil, provider, nil, nil),
		changed:    make(chan struct{}, 1),
	}
	c.config.GetConfigForClient = c.controller.GetConfigForClient
	provider.AddListener(c.controller)
	provider.AddListener(c)
	return c
}

// Config returns a config for a Listener. Each gets a copy, because net/http modifies it for HTTP/2.
func (c *Certificates) Config() *tls.Config { return c.config.Clone() }

// Enqueue wakes Run. The provider calls it after a change.
func (c *Certificates) Enqueue() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Run applies the provider's certificates until ctx ends. Until there is one, it only waits: a new installation has
// no certificate before a replica leads, and that is no error to log again and again.
func (c *Certificates) Run(ctx context.Context) {
	for {
		if certificate, _ := c.provider.CurrentCertKeyContent(); len(certificate) > 0 {
			c.controller.Run(1, ctx.Done())
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-c.changed:
		}
	}
}
