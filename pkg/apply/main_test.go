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

// fewerChecks shortens the property tests, which would take a minute with the race detector: each check is a life of
// an Application on its own API server. The flag on the command line still wins: -rapid.checks=2000.
func fewerChecks() {
	if err := flag.Set("rapid.checks", "40"); err != nil {
		panic(err)
	}
}
