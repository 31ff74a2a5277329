// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Clients accepts only connections of clients with a certificate of a CA. It is for the webhooks: you can configure
// an API server to present such a certificate, and no pod has one.
type Clients struct {
	ca    *dynamiccertificates.DynamicFileCAContent
	names []string
}

// NewClients reads the CAs from a PEM file. names are the common names that a certificate may have. An empty list
// permits any name, which is too much if the CA also signs for users.
func NewClients(file string, names []string) (*Clients, error) {
	ca, err := dynamiccertificates.NewDynamicCAContentFromFile("client CA", file)
	if err != nil {
		return nil, fmt.Errorf("read client CAs: %w", err)
	}
	return &Clients{ca: ca, names: names}, nil
}

// Run reloads the file when it changes, until ctx ends.
func (c *Clients) Run(ctx context.Context) { c.ca.Run(ctx, 1) }

// Guard returns the config with the check added. config must have GetConfigForClient, like that of Certificates.
func (c *Clients) Guard(config *tls.Config) *tls.Config {
	guarded, serving := config.Clone(), config.GetConfigForClient
	guarded.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		current, err := serving(hello)
		if err != nil {
			return nil, err
		}
		verify, ready := c.ca.VerifyOptions()
		if !ready {
			return nil, errors.New("there is no client CA")
		}
		checked := current.Clone()
		checked.ClientAuth, checked.ClientCAs = tls.RequireAndVerifyClientCert, verify.Roots
		checked.VerifyConnection = func(state tls.ConnectionState) error { return c.verifyName(state.PeerCertificates) }
		return checked, nil
	}
	return guarded
}

func (c *Clients) verifyName(chain []*x509.Certificate) error {
	if len(c.names) == 0 || len(chain) > 0 && slices.Contains(c.names, chain[0].Subject.CommonName) {
		return nil
	}
	return errors.New("the client's certificate has none of the permitted common names")
}
