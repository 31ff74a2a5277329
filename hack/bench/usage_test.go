// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"fairlead.dev/fairlead/hack/internal/process"
)

// TestUsage asks the kernel about this process, of which something is known.
func TestUsage(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{&process.Process{Cmd: &exec.Cmd{Process: self}}}
	rss, anonymous, err := s.memory()
	if err != nil || rss < mebibyte {
		t.Errorf("rss is %d, %v", rss, err)
	}
	if anonymous <= 0 || anonymous >= rss {
		t.Errorf("%d bytes are anonymous, of %d", anonymous, rss)
	}
	if peak, err := s.peak(); err != nil || peak < rss/2 {
		t.Errorf("peak is %d, %v, and rss %d", peak, err, rss)
	}
	before, err := s.cpu()
	if err != nil {
		t.Fatal(err)
	}
	for used := before; used < before+2*tick; {
		if used, err = s.cpu(); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for want := range 3 {
		if got, err := s.connections(listener.Addr().(*net.TCPAddr).Port); err != nil || got != want {
			t.Errorf("%d connections, %v; want %d", got, err, want)
		}
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
	}
}
