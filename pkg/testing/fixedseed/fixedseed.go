// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fixedseed checks properties with the same random inputs each time. If a test passed yesterday and fails today,
// the code has changed, not the input. To try more inputs:
//
//	RANDOM_SEED=1 go test ./pkg/apply -run TestAny -rapid.checks=3000
package fixedseed

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// seed is the default seed. -rapid.seed sets another one, and $RANDOM_SEED a random one.
const seed = "20260401"

// fix sets the seed once per process: rapid reads it from its flag at each check.
var fix = sync.OnceValue(func() error {
	given := flag.Lookup("rapid.seed")
	if given == nil {
		return fmt.Errorf("rapid no longer has the flag -rapid.seed")
	}
	if given.Value.String() != "0" || IsRandom() {
		return nil
	}
	return given.Value.Set(seed)
})

// IsRandom reports whether $RANDOM_SEED requests other inputs each time. Then a test can check what holds for each
// input, but not what is likely for all of them together.
func IsRandom() bool { return os.Getenv("RANDOM_SEED") != "" }

// Check is rapid.Check with the fixed seed.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if err := fix(); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, property)
}
