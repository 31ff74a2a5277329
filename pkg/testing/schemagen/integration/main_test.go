// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration sends objects that schemagen draws to a real API server, which must store them, and accept the
// children that are rendered from them.
package integration

import (
	"os"
	"testing"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

var shared = controlplane.NewShared(controlplane.APIOnly())

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
