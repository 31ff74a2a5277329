// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package health assesses the rollout of an Application: the progress of its Deployment, and why pods do not serve. It is
// pure: the same snapshot and time have the same Rollout. A sync assesses it once; revision and status take it as a value.
package health
