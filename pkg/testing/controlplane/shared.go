// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Shared is the one cluster of a test package. It starts when the first test asks for it, so that running only tests
// that need none costs nothing.
type Shared struct {
	options []Option

	once sync.Once
	cp   *ControlPlane
	err  error
}

// NewShared describes the cluster. Keep it in a variable of the test package, and call Main from TestMain.
func NewShared(opts ...Option) *Shared { return &Shared{options: opts} }

// Get returns the cluster, after starting it if need be. If it cannot start, every test that asks fails with the reason.
func (s *Shared) Get(tb testing.TB) *ControlPlane {
	tb.Helper()
	// Not the test's context: the cluster must not end with the test that happens to be first.
	s.once.Do(func() { s.cp, s.err = Start(context.WithoutCancel(tb.Context()), s.options...) })
	if s.err != nil {
		tb.Fatal(s.err)
	}
	return s.cp
}

// Main runs the tests, stops the cluster and looks for leaked goroutines. It returns the exit code for os.Exit.
func (s *Shared) Main(m *testing.M, leaks ...goleak.Option) int {
	code := m.Run()
	if s.cp != nil {
		if err := s.cp.Stop(); err != nil {
			fmt.Fprintf(os.Stderr, "stop the shared control plane: %v\n", err)
			code = max(code, 1)
		}
	}
	if code != 0 {
		return code // A failed test may well have left a goroutine; that is not news.
	}
	if err := goleak.Find(leaks...); err != nil {
		fmt.Fprintf(os.Stderr, "goroutines leaked by the tests: %v\n", err)
		return 1
	}
	return 0
}
