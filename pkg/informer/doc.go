// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package informer is stage 1: it keeps local caches of the Applications and their children, and calls handlers when
// they change.
//
// It uses the generated factories. This package adds what to watch (children by label, namespaces by option), what to
// keep of an object (transform.go), and how to find it (index.go).
package informer
