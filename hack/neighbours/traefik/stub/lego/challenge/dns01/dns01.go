// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dns01 has the options of a challenge by DNS.
package dns01

import (
	"strings"
	"time"
)

// Options are those of a Client.
type Options struct{ RecursiveNameservers []string }

// Client looks for the record.
type Client struct{}

// ChallengeOption is an option of the challenge.
type ChallengeOption func()

// NewClient returns a client that does nothing.
func NewClient(*Options) *Client { return &Client{} }

// SetDefaultClient does nothing.
func SetDefaultClient(*Client) {}

// CondOptions does nothing.
func CondOptions(bool, ...ChallengeOption) ChallengeOption { return nil }

// DisableAuthoritativeNssPropagationRequirement does nothing.
func DisableAuthoritativeNssPropagationRequirement() ChallengeOption { return nil }

// DisableRecursiveNSsPropagationRequirement does nothing.
func DisableRecursiveNSsPropagationRequirement() ChallengeOption { return nil }

// PropagationWait does nothing.
func PropagationWait(time.Duration, bool) ChallengeOption { return nil }

// UnFqdn removes the dot at the end of a name. Traefik asks for every certificate by such a name.
func UnFqdn(name string) string { return strings.TrimSuffix(name, ".") }
