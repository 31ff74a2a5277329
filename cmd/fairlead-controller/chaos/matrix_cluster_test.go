// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"strings"
	"testing"
)

// TestF08ControlPlane kills and freezes the API server and etcd, while several controllers are at work. Each of them lives
// through all of it.
func TestF08ControlPlane(t *testing.T) {
	t.Parallel()
	r := newRunnerAlone(t)
	for _, fault := range []string{"kill kube-apiserver", "kill etcd", "freeze kube-apiserver", "freeze etcd"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			r.replay(t, strings.ReplaceAll(`
				replicas 2
				create a full
				create b orphan
				wait
				edit a config
				edit a no-ports
				outage FAULT
				edit a ports
				edit a image
				wait
				delete b foreground
				replicas 1
			`, "FAULT", fault))
		})
	}
}

// TestRecreatedAfterAnOutage deletes an Application and creates another of its name before the garbage collector watches again. The
// explorer found that it may then forget what the first one owned.
func TestRecreatedAfterAnOutage(t *testing.T) {
	replay(t, `
		create a full
		wait
		outage kill kube-apiserver
		recreate a orphan
		wait
	`)
}

// TestF15OptionalAPIsOfAll installs, breaks and removes optional APIs, while several controllers are at work.
func TestF15OptionalAPIsOfAll(t *testing.T) {
	t.Parallel()
	r := newRunnerAlone(t)
	for name, text := range map[string]string{
		"HTTPRoutes": `
				create a routed
				create b small
				wait
				api httproutes install
				edit b gateway
				wait
				edit a two-routes
				api httproutes break
				edit b image
				edit a gateway
				let 3s
			`,
		"removed": `
				api httproutes install
				create a full
				edit a gateway
				wait
				api httproutes remove
				edit a image
				wait
				delete a foreground
				create a routed
				api httproutes install
				edit a gateway
				wait
				api httproutes break
				api httproutes remove
				edit a image
			`,
		"ServiceMonitors": `
				api servicemonitors install
				create a routed
				create b full
				edit b monitoring
				wait
				api servicemonitors break
				edit b image
				restart
				api servicemonitors remove
				edit b no-monitoring
				api servicemonitors install
				edit b monitoring
			`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.replay(t, text)
		})
	}
}
