// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package walkthrough has the test that does what the documents say: it runs their commands, one
// after the other, on an embedded control plane, and gives their YAML to its API server.
package walkthrough
