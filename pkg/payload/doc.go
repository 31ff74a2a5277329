// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package payload is the only package that reads the content of ConfigMaps and Secrets. It returns a hash and the names
// of the keys, and drops the content at once. It never logs content, at any verbosity, and no error contains any.
package payload
