// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package debug records how a change passes through the controller, from the API server's watch to the writes of a sync:
// each stage, when, and why. See docs/pipeline.md.
//
// The other packages call a Recorder at their boundaries. None depends on it, and a nil Recorder does nothing. The types
// in view*.go are the JSON that package live serves.
//
// The size of the record is bounded, whatever the number of Applications. It contains no content of objects: only names,
// resourceVersions, paths of fields, reasons, counts and times.
package debug
