// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package root

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	want, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Find(); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	t.Chdir(t.TempDir())
	if got, err := Find(); err == nil || !strings.Contains(err.Error(), "source tree") {
		t.Errorf("elsewhere: got %q, %v, want an error that says what to do", got, err)
	}
}
