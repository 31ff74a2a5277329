// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// validateSize refuses what costs more than an Application of ordinary size, and what a schema cannot count.
func validateSize(app *v1.Application) field.ErrorList {
	excess := app.FindExcess()
	if excess == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(excess.Path[0], excess.Path[1:]...), field.OmitValueType{}, excess.Message)}
}
