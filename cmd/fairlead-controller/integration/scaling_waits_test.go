// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestScalingGoesOnWhileTheTemplateWaits changes the pods and their number in one edit, while a Secret that the
// new pods need is missing: the number is applied at once, down to zero and up again, the template once the
// Secret is there, and from then on the fields belong to whom they should.
func TestScalingGoesOnWhileTheTemplateWaits(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create(named(small, "web") + "  replicas: 2\n  resources: {requests: {cpu: 10m}}\n")
	e.waitReady("web")
	before := get[appsv1.Deployment](e, "web").Spec.Template
	template := func(spec *v1.ApplicationSpec) {
		spec.Env = []corev1.EnvVar{{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "password"},
		}}}
	}
	scaled := func(want int32) {
		t.Helper()
		e.eventually(fmt.Sprintf("%d pods of the former template run", want), func() (bool, string) {
			deployment := get[appsv1.Deployment](e, "web")
			same := len(deployment.Spec.Template.Spec.Containers[0].Env) == len(before.Spec.Containers[0].Env)
			return same && *deployment.Spec.Replicas == want && deployment.Status.Replicas == want, fmt.Sprint(deployment.Spec, deployment.Status)
		})
		e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
	}
	e.editSpec("web", func(spec *v1.ApplicationSpec) { template(spec); spec.Replicas = new(int32(0)) })
	scaled(0)
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Replicas = new(int32(3)) })
	scaled(3)
	// Autoscaling begins with the pods, and its end sets the number at once.
	e.editSpec("web", func(spec *v1.ApplicationSpec) {
		spec.Replicas, spec.Autoscaling = nil, &v1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 4, TargetCPUUtilizationPercentage: new(int32(70))}
	})
	scaled(3)
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Replicas, spec.Autoscaling = new(int32(1)), nil })
	scaled(1)

	e.create(db)
	e.waitReady("web")
	if env := get[appsv1.Deployment](e, "web").Spec.Template.Spec.Containers[0].Env; len(env) != 1 {
		t.Errorf("the template has %v", env)
	}
	// From then on another number is drift, and the number stays if no client sets it.
	_, err := e.kube.AppsV1().Deployments(e.namespace).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{FieldManager: person})
	if err != nil {
		t.Fatal(err)
	}
	e.eventually("the number is repaired", func() (bool, string) {
		replicas := *get[appsv1.Deployment](e, "web").Spec.Replicas
		return replicas == 1, fmt.Sprint(replicas)
	})
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Replicas = new(int32(2)) })
	e.waitReady("web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Replicas = nil })
	e.waitReady("web")
	if got := *get[appsv1.Deployment](e, "web").Spec.Replicas; got != 2 {
		t.Errorf("%d replicas after the spec leaves them to others, want 2", got)
	}
}
