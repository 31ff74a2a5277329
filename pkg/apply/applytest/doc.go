// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package applytest is an API server in memory, for tests of the writer and of the loop around it. Its only goroutines
// are one per watch, and its only clock is package time, so it runs in a bubble of testing/synctest.
//
// It implements what the code under test relies on. It uses the real API server's code where that can be linked (managed
// fields, server-side apply, strategic merge), and gives the same answers elsewhere: UIDs and resourceVersions,
// generations, the status subresource, preconditions, finalizers, writes that change nothing, watches by label. It has
// only the validation and the defaults on which the code under test relies.
//
//	server := applytest.NewServer(t)
//	writer := apply.NewWriter(server.Client(), consistency.NewStore())
//	informers, err := informer.New(server.Kube(), server.Fairlead(), informer.Options{})
//
// Tests read what is stored with Get and All, act as other users with Edit, and cause failures with Intercept, HoldWatch
// and ExpireWatch.
package applytest
