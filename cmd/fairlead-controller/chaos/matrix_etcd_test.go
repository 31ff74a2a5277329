// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"net/http"
	"strings"
	"testing"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestF09Etcd kills etcd, and lets it run out of space, while the controller follows edits. It has a control plane of its own.
func TestF09Etcd(t *testing.T) {
	t.Parallel()
	cluster := controlplane.ForTest(t, patientNodes, controlplane.WithAuditLog())
	cluster.InstallCRDs(t, crds)
	r := &runner{cluster: cluster, busy: make(chan struct{}, 1)}
	for _, test := range []struct {
		name            string
		disturb, repair func(t *testing.T)
	}{
		{
			"killed",
			func(t *testing.T) { cluster.Kill(t, controlplane.Etcd) },
			func(t *testing.T) { cluster.Restart(t, controlplane.Etcd) },
		},
		{
			"out of space",
			func(t *testing.T) { alarm(t, cluster, "ACTIVATE") },
			func(t *testing.T) { alarm(t, cluster, "DEACTIVATE") },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := worldOf(t, cluster, nil)
			do(t, w, "create a full", "create b orphan", "wait")
			// The edits are stored, and the controller sees them when etcd is broken.
			do(t, w, "cut", "edit a other-ports", "edit a image", "deletion b Delete")
			test.disturb(t)
			do(t, w, "mend", "let 3s", "restart", "let 3s")
			test.repair(t)
			if err := r.judge(t.Context(), w, 8); err != nil {
				t.Errorf("%v\n%s", err, w.log.tail(50))
			}
		})
	}
}

// alarm raises or clears the alarm by which etcd refuses writes.
func alarm(t *testing.T, cluster *controlplane.ControlPlane, action string) {
	t.Helper()
	body := strings.NewReader(`{"action":"` + action + `","memberID":"1","alarm":"NOSPACE"}`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, cluster.URL(t, controlplane.Etcd)+"/v3/maintenance/alarm", body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s of the alarm: %s", action, response.Status)
	}
}
