// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package neighbours tests Fairlead beside the programs of others: each runs as a process against the embedded control plane,
// as does the controller. make neighbours compiles the programs into bin/neighbours first. Each program is pinned by a module of
// its own, kube-state-metrics for example, because their requirements exclude each other. The one of cert-manager has a command of
// its own, because the commands of cert-manager cannot be required. Traefik and metrics-server are pinned here too; hack/e2e runs
// them, because they need pods that answer.
package neighbours
