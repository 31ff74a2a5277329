// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tries objects that schemagen draws on a real API server: it must store them, and accept the children
// that are rendered of them.
package integration

import (
	"os"
	"testing"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

var shared = controlplane.NewShared(controlplane.APIOnly())

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
