// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package rendertest_test

import (
	"testing"

	"pgregory.net/rapid"

	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

func TestApplicationsAreValid(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		app := rendertest.Applications().Draw(t, "application")
		if errs := validation.ValidateApplication(app, validation.Options{ForeignServiceAccounts: true}); len(errs) > 0 {
			t.Fatalf("not valid: %v", errs.ToAggregate())
		}
	})
}
