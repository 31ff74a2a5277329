// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Certificates gives listeners the certificate that a provider has now. A handshake before there is
// one fails; one after a rotation gets the new one, without a restart.
type Certificates struct {
	config     *tls.Config
	provider   dynamiccertificates.CertKeyContentProvider
	controller *dynamiccertificates.DynamicServingCertificateController
	changed    chan struct{}
}

// NewCertificates listens to the provider, so call it before the provider runs.
func NewCertificates(provider dynamiccertificates.CertKeyContentProvider) *Certificates {
	// Go's choice of cipher suites for TLS 1.2 is a good one, and that for 1.3 is fixed.
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

// Config is what a Listener needs. Each gets a copy, since net/http adds to it what HTTP/2 needs.
func (c *Certificates) Config() *tls.Config { return c.config.Clone() }

// Enqueue is called by the provider when it has something new.
func (c *Certificates) Enqueue() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Run takes over what the provider has, and whatever it gets, until ctx ends. Before there is
// anything it only waits: a new installation has no certificate until somebody leads, and that is
// no error to log again and again.
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
