// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestOutage: a strategy without additional pods stops the only one first, also where its share of one pod is none.
func TestOutage(t *testing.T) {
	for name, test := range map[string]struct {
		replicas           int32
		surge, unavailable *intstr.IntOrString
		want               bool
	}{
		"the default":                {1, nil, nil, false},
		"no surge":                   {1, new(intstr.FromInt32(0)), nil, true},
		"no surge, of three":         {3, new(intstr.FromInt32(0)), nil, false},
		"no surge, and a share":      {1, new(intstr.FromInt32(0)), new(intstr.FromString("25%")), true},
		"a share, of four":           {4, new(intstr.FromInt32(0)), new(intstr.FromString("25%")), false},
		"all of them, with surge":    {3, new(intstr.FromInt32(1)), new(intstr.FromString("100%")), true},
		"as many as there are":       {2, new(intstr.FromInt32(0)), new(intstr.FromInt32(2)), true},
		"none to stop":               {0, new(intstr.FromInt32(0)), nil, false},
		"a surge that is rounded up": {1, new(intstr.FromString("25%")), new(intstr.FromInt32(0)), false},
	} {
		t.Run(name, func(t *testing.T) {
			objects, _ := treetest.Load(t, "healthy")
			old := objects.Application.DeepCopy()
			old.Spec.Replicas, old.Spec.DisruptionBudget = &test.replicas, nil
			old.Spec.Strategy = &appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: test.surge, MaxUnavailable: test.unavailable}}
			applied := old.DeepCopy()
			applied.Spec.Image = "example.com/web:2"
			_, d, err := preview.Of(differ, old, applied, objects.Snapshot(), platform(), treetest.Now)
			if err != nil || !d.Pods.Replaced || d.Pods.Outage != test.want {
				t.Errorf("%+v, %v, want an outage: %t", d.Pods, err, test.want)
			}
		})
	}
}
