// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controller is the loop: a change of an Application or of one of its children becomes a key, a worker takes
// the key, and one sync brings everything to what the Application says.
//
// Read these files in this order; it is the way that a change takes:
//
//	handlers.go    an event chooses keys, and nothing else
//	worker.go      take a key, sync it, decide when it comes back
//	sync.go        syncHandler: the stages of a sync, on one screen
//	observe.go     the caches -> one observation
//	resolve.go     the class, the rules, the revision and the references -> what to render
//	report.go      what happened -> status, Events and outcome
//
// Keys wait in pkg/workqueue. The pure stages are packages of their own: pkg/health, pkg/render, pkg/plan and
// pkg/status; pkg/apply does the writes. Around the trunk: memory.go is what is remembered of an Application from one
// sync to the next: repair_backoff.go, debounce.go, status_batch.go and fingerprint.go. orphan.go and finalize.go say who
// deletes the children, and recheck.go reads the Application from the API server first. route_*.go are the conflicts of
// routes, class_status.go counts for the classes, instrumented*.go record what happens for the live view.
package controller
