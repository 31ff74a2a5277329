// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestMain(m *testing.M) {
	// The second handler of errors sleeps for as long as the last error is less than a millisecond
	// old. It remembers the time of the last one over all tests, and in a bubble of synctest it is the
	// year 2000: a reflector that reported an error there would sleep until today.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] //nolint:reassign // There is no other way.
	goleak.VerifyTestMain(m)
}
