// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schemagen draws custom resources from their own schema: whatever an API server would
// store, likely or not, and more often than not close to a limit. Failures shrink to an object with
// few changes.
//
// Most objects that are drawn from a large schema at random are refused, or are accepted and say
// nothing. So an object begins as a seed, which is valid and means something, and is edited: a field of
// the schema is set, removed, filled to its limit or repeated in another case. An edit after which
// the API server would refuse the object is undone.
//
// Reading order: generator.go; edit.go applies an edit; node.go lists what can be edited; value.go,
// text.go and list.go draw values; repair.go makes room for them.
package schemagen
