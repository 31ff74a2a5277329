// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestMain(m *testing.M) {
	// The second error handler sleeps while the last error is less than a millisecond old. It remembers the time of that
	// error across tests. In a bubble of synctest it is the year 2000, so a reflector that reported an error there would
	// sleep until today.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] //nolint:reassign // There is no other way.
	goleak.VerifyTestMain(m)
}
