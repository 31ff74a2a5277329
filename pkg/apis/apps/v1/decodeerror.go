// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// DecodeError is a field of a stored object that this version does not understand. The object has the others.
//
// +k8s:openapi-gen=false
type DecodeError struct {
	// Field is the path of the field, such as spec.resources.limits.cpu.
	Field string
	// Value is the beginning of what is stored there.
	Value string
	// Detail says what should be there instead.
	Detail string
}

// Undecoded reports whether the field, or what contains it, could not be decoded. Its value is then unknown, not empty.
func Undecoded(errs []DecodeError, field string) bool {
	for _, err := range errs {
		if err.Field == field || len(err.Field) < len(field) && field[:len(err.Field)+1] == err.Field+"." {
			return true
		}
	}
	return false
}
