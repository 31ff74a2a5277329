// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package informer is stage 1: it keeps local caches of the Applications and of their children,
// and calls handlers when they change.
//
// The factories are the generated ones. What this package adds is what is watched (children by
// label, namespaces by choice), what is kept of an object (transform.go), and how it is found
// again (index.go).
package informer
