// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package http01 has the options of a challenge by HTTP.
package http01

import "time"

// PathPrefix is where a challenge is answered.
const PathPrefix = "/.well-known/acme-challenge/"

// ChallengeOption is an option of the challenge.
type ChallengeOption func()

// SetDelay does nothing.
func SetDelay(time.Duration) ChallengeOption { return nil }
