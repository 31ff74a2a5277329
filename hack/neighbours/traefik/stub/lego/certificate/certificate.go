// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificate has what is asked of a certificate authority.
package certificate

import "github.com/go-acme/lego/v5/certcrypto"

// Resource is a certificate.
type Resource struct {
	ID                      string
	Domains                 []string
	PrivateKey, Certificate []byte
	KeyType                 certcrypto.KeyType
}

// ObtainRequest asks for a certificate.
type ObtainRequest struct {
	Domains, EmailAddresses  []string
	Bundle, EnableCommonName bool
	Profile, PreferredChain  string
	KeyType                  certcrypto.KeyType
}

// RenewOptions is how a certificate is renewed.
type RenewOptions struct {
	Bundle, EnableCommonName bool
	EmailAddresses           []string
	Profile, PreferredChain  string
}
