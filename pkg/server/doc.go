// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server answers those who ask this process something: the kubelet whether it is well, a
// monitoring system for metrics, the API server about Applications.
//
//	listener.go   one address, with its limits; how it starts and how it ends
//	health.go     /livez, /readyz, /healthz
//	metrics.go    /metrics and /debug/pprof
//	access.go     who may read metrics: TokenReview and SubjectAccessReview
//	tls.go        certificates that are exchanged while listeners run
package server
