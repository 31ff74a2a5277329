// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controller is the loop: a change of an Application or of one of its children becomes
// a key, a worker takes the key, and one sync brings everything to what the Application says.
//
// Read these files in this order; it is the way that data flows:
//
//	handlers.go    2  an event chooses keys, nothing else
//	queue.go       3  keys wait, once each: what changed before what was only listed
//	worker.go      4  Get, sync, Done; the only place that logs a sync's error
//	sync.go        5  the table of contents of a sync
//	observe.go     5  caches -> one Snapshot
//	going.go       5  whether the garbage collector is at work
//	finalize.go    5  the end of an Application, and deletionPolicy Orphan
//	report.go      8  what happened -> status, events and outcome
//	status.go      8  the one status write, and when
//	outcome.go     8  what becomes of the key
//
// Stage 1 (informers) is pkg/informer, 6 (pure decisions) pkg/render and pkg/plan, 7 (writes)
// pkg/apply and pkg/consistency, 8 (pure status) pkg/status.
package controller
