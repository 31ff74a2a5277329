// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// IsZeroIntOrPercent reports whether a number of pods or a percentage of them, such as maxSurge, is given and 0.
func IsZeroIntOrPercent(value *intstr.IntOrString) bool {
	if value == nil {
		return false
	}
	scaled, err := intstr.GetScaledValueFromIntOrPercent(value, 100, true)
	return err == nil && scaled == 0
}
