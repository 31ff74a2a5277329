// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server serves health to the kubelet, metrics to a monitoring system, and webhooks to the API server.
//
//	listener.go   one address, with its limits; how it starts and stops
//	health.go     /livez, /readyz, /healthz
//	metrics.go    /metrics and /debug/pprof
//	access.go     who may read metrics: TokenReview and SubjectAccessReview
//	clients.go    client certificates of the API server
//	loopback.go   protects an unauthenticated loopback listener from web pages
//	tls.go        certificates that change while listeners run
package server
