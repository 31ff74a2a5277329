// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	fewerChecks()
	goleak.VerifyTestMain(m)
}

// fewerChecks keeps the property tests here, each check of which is a life of an Application on an
// API server of its own, from taking a minute with the race detector. The flag on the command line
// still wins: -rapid.checks=2000.
func fewerChecks() {
	if err := flag.Set("rapid.checks", "40"); err != nil {
		panic(err)
	}
}
