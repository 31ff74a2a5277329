// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"

	"k8s.io/apiserver/pkg/server/healthz"
)

// HealthHandler serves
//
//	/livez    if it fails, a restart helps
//	/readyz   if it succeeds, the replica may get requests, whether it leads or not
//	/healthz  the old name of /livez
//
// Each accepts ?verbose and ?exclude=NAME, and serves each check separately at /livez/NAME. The response names failing
// checks. Only the path of a check, and the log, say why it fails.
func HealthHandler(live, ready []healthz.HealthChecker) http.Handler {
	mux := http.NewServeMux()
	live = append([]healthz.HealthChecker{healthz.PingHealthz}, live...)
	ready = append([]healthz.HealthChecker{healthz.PingHealthz}, ready...)
	healthz.InstallLivezHandler(mux, live...)
	healthz.InstallReadyzHandler(mux, ready...)
	healthz.InstallHandler(mux, live...)
	return mux
}

// NewCheck returns a check that calls a function, which returns an error if something is wrong. Every probe calls it,
// so it must be quick.
func NewCheck(name string, check func() error) healthz.HealthChecker {
	return healthz.NamedCheck(name, func(*http.Request) error { return check() })
}
