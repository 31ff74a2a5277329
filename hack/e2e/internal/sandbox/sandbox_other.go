// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sandbox

import "context"

// Run fails: there are no namespaces here.
func Run(context.Context, Command) (exitCode int, err error) { return 0, errUnsupported }

// Enter does nothing: nobody can have started a sandbox.
func Enter([]string) (exitCode int, taken bool) { return 0, false }
