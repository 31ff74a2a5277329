// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package argocd tests what Argo CD makes of Fairlead's objects, with the Lua library that it runs health scripts in.
// The package is a module of its own, so that the others do not require that library.
package argocd
