// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package health assesses the rollout of an Application: how far its Deployment has come, and what keeps pods
// from serving. It is pure: the same snapshot and time give the same Rollout. A sync assesses it once; what
// decides the revision and what reports the status both take it as a value.
package health
