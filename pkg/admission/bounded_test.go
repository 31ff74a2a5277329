// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The number of lookups is bounded, whatever a spec refers to.
func TestLookupsAreBounded(t *testing.T) {
	many := application(func(a *v1.Application) {
		for i := range 200 {
			a.Spec.ImagePullSecrets = append(a.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: strings.Repeat("a", i+1)})
		}
	})
	h := (&cluster{}).handler(t)
	found := verdict{}
	if err := h.references(t.Context(), input{new: many}, &found); err != nil || len(found.warnings) != maxLookups {
		t.Errorf("%d warnings, %v", len(found.warnings), err)
	}
}

// The number of children to look for is bounded too, however many routes a spec has.
func TestChildrenAreBounded(t *testing.T) {
	many := application(func(a *v1.Application) {
		for i := range 20 {
			name := fmt.Sprint("r", i)
			a.Spec.Routes = append(a.Spec.Routes, v1.Route{Name: name, Type: v1.RouteIngress, Hostnames: []string{name + ".example.com"}})
		}
	})
	if got := (&cluster{}).handler(t).newChildren(t.Context(), many); len(got) != maxChildren || got[0].Kind != KindDeployment {
		t.Errorf("looks for %v", got)
	}
}
