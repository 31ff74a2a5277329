// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fields makes docs/fields.md, and holds it current: for each field of the API, the fields
// of children that it reaches, and the checks that guard it. Nearly all of it is found out by trying:
//
//   - the examples and golden files are rendered with and without the field;
//   - they are validated with values that should not pass, and with classes that allow nothing;
//   - the limits of the schema are read from the CRDs.
//
// A field that no example has, or that reaches a child and is checked nowhere, fails the test.
//
//	go test ./hack/fields -update
//
// writes the page; `make generate` does it.
package fields
