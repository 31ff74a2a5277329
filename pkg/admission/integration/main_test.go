// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tries the webhooks on a real API server.
package integration

import (
	"os"
	"testing"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// The registrations of these tests are for the whole cluster, so no test here is parallel.
var shared = controlplane.NewShared(controlplane.APIOnly())

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
