// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dns has no providers of DNS.
package dns

import (
	"errors"

	"github.com/go-acme/lego/v5/challenge"
)

// NewDNSChallengeProviderByName fails.
func NewDNSChallengeProviderByName(string) (challenge.Provider, error) {
	return nil, errors.New("this Traefik is built without ACME")
}
