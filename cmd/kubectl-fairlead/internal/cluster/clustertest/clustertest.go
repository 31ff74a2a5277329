// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clustertest loads the cases of treetest as if they were read from a cluster.
package clustertest

import (
	"testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// Load returns a case of treetest.
func Load(tb testing.TB, name string) *cluster.Loaded {
	tb.Helper()
	objects, events := treetest.Load(tb, name)
	return cluster.FromObjects(objects, events)
}
