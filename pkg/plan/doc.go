// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what to do about each child, and why, from what is observed and what was rendered. It is pure.
// Package apply executes its steps.
package plan
