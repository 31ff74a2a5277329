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

// Clients lets only those clients connect that show a certificate of a CA. It is for the webhooks: an API
// server that is configured to shows one, and no pod can.
type Clients struct {
	ca    *dynamiccertificates.DynamicFileCAContent
	names []string
}

// NewClients reads the CAs from a PEM file. names are the common names that a certificate may have; none
// means any, which is too much where the CA signs for users too.
func NewClients(file string, names []string) (*Clients, error) {
	ca, err := dynamiccertificates.NewDynamicCAContentFromFile("client CA", file)
	if err != nil {
		return nil, fmt.Errorf("read client CAs: %w", err)
	}
	return &Clients{ca: ca, names: names}, nil
}

// Run reads the file again when it changes, until ctx ends.
func (c *Clients) Run(ctx context.Context) { c.ca.Run(ctx, 1) }

// Guard returns the config with the check added. config must have GetConfigForClient, as that of
// Certificates has.
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
