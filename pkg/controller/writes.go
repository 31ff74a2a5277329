// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/fairlead/pkg/apply"
)

// ObserveWrite is the apply.Observer that counts writes by verb, kind and result.
func (m *Metrics) ObserveWrite(_ context.Context, request apply.Request) {
	if request.Verb == "get" {
		return
	}
	result := "Success"
	switch err := request.Err; {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
		// Another writer was faster. The next sync observes its change.
		result = "Lost"
	case err != nil:
		result = "Failed"
	}
	m.writes.WithLabelValues(request.Verb, request.Ref.Kind.Kind, result).Inc()
}
