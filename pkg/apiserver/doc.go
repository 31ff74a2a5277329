// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver is the aggregated API server: subresources of Applications that a custom resource cannot have.
//
// It runs on the generic server of k8s.io/apiserver, behind kube-apiserver, and stores nothing. Read server.go first: it
// installs the registries of the one resource, applications, and of its subresources. Each registry has a file of
// its own, registry_*.go.
//
//   - [caches] are informers for Applications and what belongs to them.
//   - views computes an ApplicationRuntime of each Application from the caches, and history keeps the views with their
//     last changes, for lists and watches.
//   - access asks kube-apiserver whether the user may do directly what a request amounts to. kube-apiserver has
//     authorized the subresource before; this is the second check.
//
// The server acts with its own identity and never impersonates. So every registry must call access before it reads a
// cache or sends a request.
package apiserver
