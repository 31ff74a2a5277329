// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schemagen draws custom resources from their own schema: anything that an API server would store, likely or not,
// and often close to a limit. Failures shrink to an object with few changes.
//
// Most random objects of a large schema are invalid, or valid and without meaning. So each object starts as a valid,
// meaningful seed, and is edited: the generator sets a field of the schema, removes it, fills it to its limit, or repeats
// it in another case. It undoes an edit after which the API server would refuse the object.
//
// Reading order: generator.go; edit.go applies an edit; node.go lists what can be edited; value.go,
// text.go and list.go draw values; repair.go makes room for them.
package schemagen
