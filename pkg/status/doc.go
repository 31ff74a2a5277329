// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package status computes the status of an Application from what a sync observed and did. It is pure. The controller writes
// the result, but only if Compare finds a change.
//
// Read status.go first, which has the summary, then resources.go (each child), deployment.go (the rollout), routes.go,
// conditions.go, compare.go and transitions.go. The problems of pods come from pkg/health, the reasons of errors from
// pkg/apierror.
package status
