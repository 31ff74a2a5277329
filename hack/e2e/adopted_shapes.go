// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// adoptedShapes are those that the adoption meets on the real node, one for each way in which charts differ.
func adoptedShapes() []*adoptedShape {
	shapes := []*adoptedShape{
		newShape("unnamed-port"), newShape("named-port"), newShape("other-service"), newShape("sidecar"), newShape("init-container"),
		newShape("configured"), newShape("steady"), newShape("node-port"), newShape("budget"), newShape("account"),
	}
	for _, shape := range shapes {
		pod := &shape.deployment.Spec.Template.Spec
		switch main := &pod.Containers[0]; shape.name {
		case "named-port":
			main.Ports[0].Name = "http"
			shape.service.Spec.Ports[0].Name, shape.service.Spec.Ports[0].TargetPort = "web", intstr.FromString("http")
		case "other-service":
			main.Ports[0].Name = "http"
			shape.service.Name = "service-of-another-name"
		case "sidecar":
			helper := corev1.Container{Name: "helper", Image: workloadImage, Args: []string{"pause"}, SecurityContext: main.SecurityContext}
			pod.Containers = append(pod.Containers, helper)
			shape.flags = []string{"--container=main"}
		case "init-container":
			mount := corev1.VolumeMount{Name: "shared", MountPath: "/shared"}
			pod.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			main.VolumeMounts = []corev1.VolumeMount{mount}
			pod.InitContainers = []corev1.Container{{
				Name: "prepare", Image: workloadImage, Args: []string{"hostname"}, SecurityContext: main.SecurityContext, VolumeMounts: []corev1.VolumeMount{mount},
			}}
		case "configured":
			from := corev1.LocalObjectReference{Name: "shape"}
			main.Env = []corev1.EnvVar{
				{Name: "A", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: from, Key: "a"}}},
				{Name: "B", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: from, Key: "b"}}},
			}
			shape.before = append(shape.before, createConfiguration)
		case "steady":
			shape.deployment.Spec.Replicas, shape.deployment.Spec.MinReadySeconds = new(int32(2)), 1
			shape.deployment.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0))}
		case "node-port":
			shape.service.Spec.Type = corev1.ServiceTypeNodePort
		case "budget":
			shape.deployment.Spec.Replicas = new(int32(2))
			shape.before = append(shape.before, createBudget)
		case "account":
			pod.ServiceAccountName = shape.name
			shape.before = append(shape.before, createAccount)
		}
	}
	return shapes
}

func newShape(name string) *adoptedShape {
	labels := map[string]string{"example.com/shape": name}
	ended := &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}} // kube-proxy sends requests until it knows.
	container := corev1.Container{
		Name: "main", Image: workloadImage, Ports: []corev1.ContainerPort{{ContainerPort: 8080}}, Lifecycle: &corev1.Lifecycle{PreStop: ended},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(8080)}},
			PeriodSeconds: 1,
		},
		SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
	}
	return &adoptedShape{
		name: name,
		deployment: &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: appsv1.DeploymentSpec{
				Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
					Containers:      []corev1.Container{container},
					SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
				}},
			},
		},
		service: &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}},
		},
	}
}

func createConfiguration(ctx context.Context, s *story) error {
	of := metav1.ObjectMeta{Name: "shape"}
	if _, err := s.kube.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: of, Data: map[string]string{"a": "1"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := s.kube.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: of, StringData: map[string]string{"b": "2"}}, metav1.CreateOptions{})
	return err
}

func createBudget(ctx context.Context, s *story) error {
	_, err := s.kube.PolicyV1().PodDisruptionBudgets(namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "budget"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"example.com/shape": "budget"}},
		},
	}, metav1.CreateOptions{})
	return err
}

func createAccount(ctx context.Context, s *story) error {
	_, err := s.kube.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "account"}}, metav1.CreateOptions{})
	return err
}
