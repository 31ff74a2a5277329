// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package debug records what a change passes through on its way from the API server's watch to the
// writes of a sync: when, and why. docs/pipeline.md is the map.
//
// The other packages call a Recorder where something happens; none of them depends on what it does with
// it, and a nil Recorder does nothing. view*.go are what is told about it, as JSON; package live serves
// that.
//
// What is recorded is bounded, whatever the number of Applications, and has no content of objects in it:
// names, resourceVersions, paths of fields, reasons, counts and times.
package debug
