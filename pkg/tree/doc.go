// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tree shows an Application as the tree of its objects: children, ReplicaSets, pods and endpoints, each with
// its health and the reason.
//
// It is pure. The reader of the objects decides what the tree can show: an object that the reader may not see is missing
// from the input. The tree shows what status says about it if that is more than that it exists, and leaves it out otherwise.
package tree
