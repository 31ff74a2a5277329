// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package class applies an ApplicationClass to an Application: it chooses the class, fills in its defaults and checks
// its limits. The sync does so before it renders, and the webhooks before they admit. The rendering does not know
// classes.
//
// Reading order: default.go finds the class. merge.go fills in the defaults, field by field in mergepods.go,
// mergerollout.go, mergeroutes.go and mergemonitoring.go. resolve.go does both and validates. effect.go predicts
// what a changed class does to an Application, and status.go computes the status of a class.
//
// It is pure. Its arguments may belong to a cache, so it never changes them.
package class
