// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certcrypto has the types of keys.
package certcrypto

// KeyType is a type of key.
type KeyType string

// Types of keys.
const (
	EC256   = KeyType("EC256")
	EC384   = KeyType("EC384")
	RSA2048 = KeyType("RSA2048")
	RSA4096 = KeyType("RSA4096")
	RSA8192 = KeyType("RSA8192")
)
