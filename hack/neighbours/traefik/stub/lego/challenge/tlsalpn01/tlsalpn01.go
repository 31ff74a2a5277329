// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tlsalpn01 has the options of a challenge by TLS.
package tlsalpn01

import (
	"errors"
	"time"
)

// ACMETLS1Protocol is the protocol of the challenge.
const ACMETLS1Protocol = "acme-tls/1"

// ChallengeOption is an option of the challenge.
type ChallengeOption func()

// SetDelay does nothing.
func SetDelay(time.Duration) ChallengeOption { return nil }

// ChallengeBlocks fails.
func ChallengeBlocks(string, string) (certificate, key []byte, err error) {
	return nil, nil, errors.New("this Traefik is built without ACME")
}
