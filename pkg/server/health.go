// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"

	"k8s.io/apiserver/pkg/server/healthz"
)

// HealthHandler serves
//
//	/livez    a restart helps if it fails
//	/readyz   requests may come here if it succeeds; also for replicas that do not lead
//	/healthz  the old name of /livez
//
// each with ?verbose and ?exclude=NAME, and each check by itself at /livez/NAME. A failing check is
// named to everyone; why it fails is told at its own path, and in the log.
func HealthHandler(live, ready []healthz.HealthChecker) http.Handler {
	mux := http.NewServeMux()
	live = append([]healthz.HealthChecker{healthz.PingHealthz}, live...)
	ready = append([]healthz.HealthChecker{healthz.PingHealthz}, ready...)
	healthz.InstallLivezHandler(mux, live...)
	healthz.InstallReadyzHandler(mux, ready...)
	healthz.InstallHandler(mux, live...)
	return mux
}

// NewCheck makes a check of a function, which returns why something is not well, or nil. It is called
// for every probe, so it must be quick.
func NewCheck(name string, check func() error) healthz.HealthChecker {
	return healthz.NamedCheck(name, func(*http.Request) error { return check() })
}
