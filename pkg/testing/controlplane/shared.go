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

// Shared is the cluster that the tests of a package share. It starts when the first test needs it, so that tests
// without a cluster cost nothing.
type Shared struct {
	options []Option

	once sync.Once
	cp   *ControlPlane
	err  error
}

// NewShared configures the cluster. Keep it in a variable of the test package, and call Main from TestMain.
func NewShared(opts ...Option) *Shared { return &Shared{options: opts} }

// Get returns the cluster, and starts it if necessary. If it cannot start, every test that calls Get fails with the
// reason.
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
		return code // A failed test may have left a goroutine, which says nothing new.
	}
	if err := goleak.Find(leaks...); err != nil {
		fmt.Fprintf(os.Stderr, "goroutines leaked by the tests: %v\n", err)
		return 1
	}
	return 0
}
