// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package checks has tests about the repository itself: which package may import which, and
// whether the documents are true. It is no part of the product.
package checks
