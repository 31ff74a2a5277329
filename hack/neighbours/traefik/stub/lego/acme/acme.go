// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package acme has the types of an account.
package acme

// Account is what the certificate authority knows of an account.
type Account struct{}

// ExtendedAccount is an account and its URL.
type ExtendedAccount struct {
	Account

	Location string
}
