// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// convert returns the apply configuration To of a value of the API type that it mirrors, by way of their common JSON
// form. It sets only fields that have a value: apply configurations have no place for the null and zero values that
// API types encode.
func convert[To any](from any) (*To, error) {
	encoded, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", from, err)
	}
	to := new(To)
	if err := json.Unmarshal(encoded, to); err != nil {
		return nil, fmt.Errorf("decode %T: %w", to, err)
	}
	return to, nil
}

// convertAll converts each element of a list.
func convertAll[To, From any](from []From) ([]*To, error) {
	var all []*To
	for i := range from {
		to, err := convert[To](&from[i])
		if err != nil {
			return nil, err
		}
		all = append(all, to)
	}
	return all, nil
}

// roundedUp returns the quantities as the API server stores those of a container. It rounds them up to thousandths,
// so the API server would not return a finer one as it was sent.
func roundedUp(list corev1.ResourceList) corev1.ResourceList {
	if len(list) == 0 {
		return nil
	}
	rounded := make(corev1.ResourceList, len(list))
	for name, quantity := range list {
		copied := quantity.DeepCopy()
		copied.RoundUp(resource.Milli)
		rounded[name] = copied
	}
	return rounded
}
