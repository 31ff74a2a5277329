// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"net"
	"testing"
)

func TestReserve(t *testing.T) {
	reservation, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	if port := reservation.Port(); port < lowest || port >= ephemeralStart() {
		t.Errorf("port %d is not between %d and the ephemeral ports, which start at %d", port, lowest, ephemeralStart())
	}
	if _, err := net.ListenTCP("tcp", reservation.address); err == nil {
		t.Error("another listener could take a reserved port")
	}

	reservation.Release()
	if reservation.Taken() {
		t.Error("a released port that is free counts as taken")
	}
	server, err := net.ListenTCP("tcp", reservation.address)
	if err != nil {
		t.Fatalf("the server cannot have the port reserved for it: %v", err)
	}
	defer func() { _ = server.Close() }()
	if !reservation.Taken() {
		t.Error("a port in use does not count as taken")
	}
	reservation.Release() // Harmless: the server keeps its port.
	if !reservation.Taken() {
		t.Error("a second Release took the port from its server")
	}
}
