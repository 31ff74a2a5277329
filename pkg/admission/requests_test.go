// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// An autoscaler whose target is a share of the requests computes nothing while one container has none.
func TestWithoutRequest(t *testing.T) {
	one := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	scaled := func(sidecar corev1.Container, changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			a.Spec.Resources = &corev1.ResourceRequirements{Requests: one}
			a.Spec.Autoscaling = &v1.Autoscaling{MaxReplicas: 4, TargetCPUUtilizationPercentage: new(int32(80))}
			sidecar.Name, sidecar.Image = "proxy", "proxy:1"
			a.Spec.Sidecars = []corev1.Container{sidecar}
			for _, change := range changes {
				change(a)
			}
		})
	}
	const said = ".resources.requests[cpu]: it is not set, so the autoscaler computes nothing, " +
		"because its target is a share of the requests of all containers: set it, unless a LimitRange does"
	requested := corev1.Container{Resources: corev1.ResourceRequirements{Requests: one}}
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "no request", updated: scaled(corev1.Container{}), want: []string{"spec.sidecars[proxy]" + said}},
		{name: "a request", updated: scaled(requested)},
		{name: "a limit", updated: scaled(corev1.Container{Resources: corev1.ResourceRequirements{Limits: one}})},
		{name: "as before", updated: scaled(corev1.Container{}, image("web:2")), old: scaled(corev1.Container{})},
		{name: "no longer", updated: scaled(corev1.Container{}), old: scaled(requested), want: []string{"spec.sidecars[proxy]" + said}},
		{name: "one number of pods", updated: scaled(corev1.Container{}, func(a *v1.Application) { a.Spec.Autoscaling.MinReplicas = new(int32(4)) })},
		{name: "no autoscaling", updated: scaled(corev1.Container{}, func(a *v1.Application) { a.Spec.Autoscaling = nil })},
		{name: "one container alone", updated: scaled(corev1.Container{}, func(a *v1.Application) {
			a.Spec.Autoscaling.TargetCPUUtilizationPercentage = nil
			a.Spec.Autoscaling.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
				Name: corev1.ResourceCPU, Container: "web", Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))},
			}}}
		})},
		{name: "an init container that goes on", updated: scaled(requested, func(a *v1.Application) {
			a.Spec.InitContainers = []corev1.Container{
				{Name: "migrate", Image: "web:1"},
				{Name: "agent", Image: "agent:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
			}
		}), want: []string{"spec.initContainers[agent]" + said}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var old any
			if test.old != nil {
				old = test.old
			}
			response := ask(t, (&cluster{}).handler(t), ValidatePath, review(t, test.updated, old))
			if difference := cmp.Diff(test.want, response.Warnings); difference != "" || !response.Allowed {
				t.Errorf("warnings (-want +got):\n%s%s", difference, messageOf(response))
			}
		})
	}
}
