// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"strings"
	"testing"
)

// TestF14Denied lets a policy of another party deny the writes to one kind while the Application changes.
func TestF14Denied(t *testing.T) {
	t.Parallel()
	for _, kind := range deniedKinds() {
		t.Run(kind, func(t *testing.T) {
			replay(t, strings.ReplaceAll(`
				create a small
				wait
				deny KIND
				create b full
				edit a config
				edit a route
				let 3s
				limits on
				pods a evict
				edit b no-config
				deletion b Orphan
				let 1s
				deny nothing
			`, "KIND", kind))
		})
	}
}
