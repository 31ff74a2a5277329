// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package challenge has what answers a challenge.
package challenge

import "context"

// Provider answers challenges.
type Provider interface {
	Present(ctx context.Context, domain, token, keyAuth string) error
	CleanUp(ctx context.Context, domain, token, keyAuth string) error
}
