// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sandbox

import (
	"context"
	"errors"
)

// Run fails: there are no namespaces here.
func Run(context.Context, Command) (exitCode int, err error) {
	return 0, errors.New("namespaces exist on Linux only")
}

// Enter does nothing: nobody can have started a sandbox.
func Enter([]string) (exitCode int, taken bool) { return 0, false }
