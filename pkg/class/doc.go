// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package class says what an ApplicationClass makes of an Application: which class applies, what the
// Application takes from it, and whether it keeps to its limits. The sync asks before it renders, and
// the webhooks before they admit; what is rendered knows nothing of classes.
//
// Reading order: default.go finds the class; merge.go fills in the defaults, field by field in
// mergepods.go, mergerollout.go and mergeroutes.go; resolve.go puts both together and validates; status.go is what a class says about
// itself.
//
// It is pure. What it is given may belong to a cache and is never changed.
package class
