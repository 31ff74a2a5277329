// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// fieldManager is the name of the test as a client.
const fieldManager = "fairlead-e2e"

// newApplication is an Application of the workload, with the environment that makes it behave.
func newApplication(name, image string, environment map[string]string) *v1.Application {
	probe := func(path string) *v1.Probe {
		return &v1.Probe{HTTPGet: &v1.HTTPGetAction{Path: path}, PeriodSeconds: new(int32(1)), FailureThreshold: new(int32(2))}
	}
	application := &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1.ApplicationSpec{
			Image:          image,
			Replicas:       new(int32(1)),
			Ports:          []v1.ApplicationPort{{Name: "http", ContainerPort: 8080, ServicePort: new(int32(80))}},
			ReadinessProbe: probe("/readyz"),
		},
	}
	for name, value := range environment {
		application.Spec.Env = append(application.Spec.Env, corev1.EnvVar{Name: name, Value: value})
	}
	return application
}

func (s *story) create(ctx context.Context, application *v1.Application, options metav1.CreateOptions) error {
	options.FieldManager = fieldManager
	_, err := s.fairlead.AppsV1().Applications(application.Namespace).Create(ctx, application, options)
	return err
}

// patch edits the Application that serves.
func (s *story) patch(ctx context.Context, patch string) error {
	_, err := s.fairlead.AppsV1().Applications(namespace).Patch(ctx, webName, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

// awaitReady waits until the Application is ready as it is written now.
func (s *story) awaitReady(ctx context.Context, name string) error {
	return s.await(ctx, fmt.Sprintf("Application %s to be Ready", name), func(ctx context.Context) (bool, string, error) {
		application, err := s.fairlead.AppsV1().Applications(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, "", err
		}
		ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
		if ready == nil {
			return false, "no condition Ready yet", nil
		}
		current := application.Status.ObservedGeneration == application.Generation
		return current && ready.Status == metav1.ConditionTrue, ready.Reason + ": " + ready.Message, nil
	})
}

// url is where the Service of the Application answers: at its ClusterIP, which kube-proxy leads to the pods.
func (s *story) url(ctx context.Context) (string, error) {
	service, err := s.kube.CoreV1().Services(namespace).Get(ctx, webName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://%s:%d/", service.Spec.ClusterIP, service.Spec.Ports[0].Port), nil
}

// errNoLeader means that no replica holds the operator's Lease.
var errNoLeader = errors.New("no replica holds the Lease")
