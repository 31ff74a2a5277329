// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ports finds free loopback ports for servers that take only the number of a port.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// The ports are taken from below the kernel's ephemeral range. A port inside that range is unsafe while its server is
// down for a restart: any outgoing connection of the machine may get it as its source port, even one that is trying to
// reach that very server.
const (
	lowest           = 15000
	defaultEphemeral = 32768
	attempts         = 1000
)

// Reservation holds one free port until it is released, so that no other process finds it free in the meantime.
type Reservation struct {
	listener *net.TCPListener
	address  *net.TCPAddr
}

// Reserve binds a free loopback port.
func Reserve() (*Reservation, error) {
	var failures error
	for range attempts {
		address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: lowest + rand.IntN(ephemeralStart()-lowest)}
		listener, err := net.ListenTCP("tcp", address)
		if err == nil {
			return &Reservation{listener: listener, address: address}, nil
		}
		failures = err
	}
	return nil, fmt.Errorf("find a free port on 127.0.0.1 in %d attempts: %w", attempts, errors.Unwrap(failures))
}

// Port returns the number.
func (r *Reservation) Port() int { return r.address.Port }

// Address returns host:port.
func (r *Reservation) Address() string { return r.address.String() }

// Release frees the port for the server. The moment between this call and the server's own bind is the only one in which
// another process can take it, so call it right before starting the server. Calling it again does nothing.
func (r *Reservation) Release() { _ = r.listener.Close() }

// Taken reports whether another process holds the port. It is only meaningful after Release, while the server that the
// port was meant for is not running.
func (r *Reservation) Taken() bool {
	listener, err := net.ListenTCP("tcp", r.address)
	if err != nil {
		return true
	}
	_ = listener.Close()
	return false
}

// ephemeralStart returns the first port that the kernel gives to outgoing connections.
func ephemeralStart() int {
	content, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return defaultEphemeral // Not Linux, or /proc is hidden.
	}
	var first int
	if _, err := fmt.Sscan(string(content), &first); err != nil || first < lowest+1000 {
		return defaultEphemeral // A range that begins very low leaves no room below it.
	}
	return first
}
