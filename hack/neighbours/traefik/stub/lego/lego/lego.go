// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lego has a client that fails.
package lego

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"github.com/go-acme/lego/v5/acme"
	"github.com/go-acme/lego/v5/certificate"
	"github.com/go-acme/lego/v5/challenge"
	"github.com/go-acme/lego/v5/challenge/dns01"
	"github.com/go-acme/lego/v5/challenge/http01"
	"github.com/go-acme/lego/v5/challenge/tlsalpn01"
	"github.com/go-acme/lego/v5/registration"
)

// DirectoryURLLetsEncrypt is not asked.
const DirectoryURLLetsEncrypt = "https://acme.invalid/directory"

var errNone = errors.New("this Traefik is built without ACME")

// Config is the configuration of a Client.
type Config struct {
	CADirURL, UserAgent string
	Certificate         struct{ Timeout time.Duration }
	HTTPClient          *http.Client
}

// Client is a client of a certificate authority.
type Client struct {
	Challenge    Challenge
	Registration Registration
	Certificate  Certifier
}

// NewConfig returns an empty configuration.
func NewConfig(any) *Config { return &Config{} }

// NewClient fails.
func NewClient(*Config) (*Client, error) { return nil, errNone }

// CreateCertPool fails.
func CreateCertPool([]string, bool) (*x509.CertPool, error) { return nil, errNone }

// Challenge has what answers challenges.
type Challenge struct{}

// SetDNS01Provider fails.
func (Challenge) SetDNS01Provider(challenge.Provider, ...dns01.ChallengeOption) error { return errNone }

// SetHTTP01Provider fails.
func (Challenge) SetHTTP01Provider(challenge.Provider, ...http01.ChallengeOption) error {
	return errNone
}

// SetTLSALPN01Provider fails.
func (Challenge) SetTLSALPN01Provider(challenge.Provider, ...tlsalpn01.ChallengeOption) error {
	return errNone
}

// Registration makes accounts.
type Registration struct{}

// Register fails.
func (Registration) Register(context.Context, registration.RegisterOptions) (*acme.ExtendedAccount, error) {
	return nil, errNone
}

// RegisterWithExternalAccountBinding fails.
func (Registration) RegisterWithExternalAccountBinding(context.Context, registration.RegisterEABOptions) (*acme.ExtendedAccount, error) {
	return nil, errNone
}

// Certifier asks for certificates.
type Certifier struct{}

// Obtain fails.
func (Certifier) Obtain(context.Context, certificate.ObtainRequest) (*certificate.Resource, error) {
	return nil, errNone
}

// Renew fails.
func (Certifier) Renew(context.Context, certificate.Resource, *certificate.RenewOptions) (*certificate.Resource, error) {
	return nil, errNone
}
