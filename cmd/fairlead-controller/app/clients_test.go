// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"testing"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// TestLeaseClientHasItsOwnConnections: client-go shares the transport of equal configurations. A leader with busy
// syncs would then lose its lease.
func TestLeaseClientHasItsOwnConnections(t *testing.T) {
	t.Parallel()
	config := &rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{ServerName: t.Name()}}
	syncs, err := newClients(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, lease, err := newLeaseClient(config, LeaderElection{RenewDeadline: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if innermost(syncs.http.Transport) == innermost(lease.Transport) {
		t.Error("the lease and the syncs share their connections")
	}
}

// innermost returns the transport that has the connections.
func innermost(transport http.RoundTripper) http.RoundTripper {
	for {
		wrapper, ok := transport.(utilnet.RoundTripperWrapper)
		if !ok {
			return transport
		}
		transport = wrapper.WrappedRoundTripper()
	}
}
