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
	controller *dynamiccertificates.DynamicServingCertificateController
}

// NewCertificates listens to the provider, so call it before the provider runs.
func NewCertificates(provider dynamiccertificates.CertKeyContentProvider) *Certificates {
	// Go's choice of cipher suites for TLS 1.2 is a good one, and that for 1.3 is fixed.
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	controller := dynamiccertificates.NewDynamicServingCertificateController(config, nil, provider, nil, nil)
	provider.AddListener(controller)
	config = config.Clone()
	config.GetConfigForClient = controller.GetConfigForClient
	return &Certificates{config: config, controller: controller}
}

// Config is what a Listener needs.
func (c *Certificates) Config() *tls.Config { return c.config }

// Run takes over what the provider has, and whatever it gets, until ctx ends.
func (c *Certificates) Run(ctx context.Context) { c.controller.Run(1, ctx.Done()) }
