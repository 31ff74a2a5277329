// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"maps"
	"slices"
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestRefusalsHaveSteps: each reason of a spec that is not carried out has advice.
func TestRefusalsHaveSteps(t *testing.T) {
	have, want := slices.Sorted(maps.Keys(refusals)), slices.Sorted(slices.Values(v1.RefusalReasons))
	if !slices.Equal(have, want) {
		t.Errorf("there is advice for %q, want it for %q", have, want)
	}
}
