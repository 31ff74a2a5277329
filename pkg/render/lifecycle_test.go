// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestLifecycle(t *testing.T) {
	const ports = `
ports: [{name: http, containerPort: 8080}]
`
	checkFragments(t, child.Deployment, applicationPath+".lifecycle", []fragmentCase{
		{"a worker has nothing to drain", ``, ``},
		{"default", ports, `{preStop: {sleep: {seconds: 5}}}`},
		{"no more than half of the grace period", ports + `terminationGracePeriodSeconds: 6`, `{preStop: {sleep: {seconds: 3}}}`},
		{"no time at all", ports + `terminationGracePeriodSeconds: 1`, ``},
		{"empty", ports + `lifecycle: {}`, ``},
		{"given", ports + `lifecycle: {postStart: {exec: {command: [warm-up]}}}`, `{postStart: {exec: {command: [warm-up]}}}`},
	})
}
