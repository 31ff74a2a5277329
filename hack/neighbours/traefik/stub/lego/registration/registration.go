// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registration has what an account is made of.
package registration

// RegisterOptions asks for an account.
type RegisterOptions struct{ TermsOfServiceAgreed bool }

// RegisterEABOptions asks for an account that belongs to another one.
type RegisterEABOptions struct {
	TermsOfServiceAgreed bool
	Kid, HmacEncoded     string
}
