// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Undecodable returns the errors of an object that does not decode, as those of any invalid object.
func Undecodable(errs []v1.DecodeError) field.ErrorList {
	var list field.ErrorList
	for _, err := range errs {
		list = append(list, &field.Error{Type: field.ErrorTypeInvalid, Field: err.Field, BadValue: err.Value, Detail: err.Detail})
	}
	return list
}
