// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"os"
	"testing"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const root = "../.."

var shared = controlplane.NewShared(controlplane.APIOnly(), controlplane.WithAuditLog())

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
