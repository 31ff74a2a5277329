// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package status tells how an Application stands: what was seen and what was done becomes its
// status. It is pure; the controller writes what it returns, and only if Compare finds that
// something changed.
//
// The order to read: status.go (what the summary is), resources.go (each child),
// deployment.go and problems.go (the pods; diagnose.go and words.go), conditions.go, classify.go (errors become reasons), compare.go,
// transitions.go.
package status
