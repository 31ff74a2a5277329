// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package applytest is an API server in memory, for tests of what writes children and of the
// loop around it. It has no goroutine but one for each watch and no clock but package time, so it
// runs in a bubble of testing/synctest.
//
// It does what the code under test relies on, with the real API server's code where that can be
// linked (managed fields, server-side apply, strategic merge), and with its answers elsewhere:
// UIDs and resourceVersions, generations, the status subresource, preconditions, finalizers,
// writes that change nothing, watches by label. Of validation and defaults it has only what the
// code under test reckons with.
//
//	server := applytest.NewServer(t)
//	writer := apply.NewWriter(server.Client(), consistency.NewStore())
//	informers, err := informer.New(server.Kube(), server.Fairlead(), informer.Options{})
//
// Tests see what was stored with Get and All, play other people with Edit, and break things with
// Intercept, HoldWatch and ExpireWatch.
package applytest
