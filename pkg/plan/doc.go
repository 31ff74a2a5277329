// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides: what is there, what was rendered, so what is to be done, child by
// child, and why. It is pure; pkg/apply does what it says.
package plan
