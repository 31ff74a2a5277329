// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestIsZeroIntOrPercent: what is not given, or invalid, is not 0.
func TestIsZeroIntOrPercent(t *testing.T) {
	if IsZeroIntOrPercent(nil) {
		t.Error("nil is 0")
	}
	for text, want := range map[string]bool{"0": true, "1": false, "0%": true, "00%": true, "1%": false, "100%": false, "%": false, "": false} {
		value := intstr.Parse(text)
		if got := IsZeroIntOrPercent(&value); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}
