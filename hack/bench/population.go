// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/internal/load"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	// children is how many children each Application has: six, and the record of its revision.
	children = 7
	// namespaces is how many namespaces the Applications are spread over.
	namespaces = 10
)

// newApplication is the i-th Application: ServiceAccount, ConfigMap, NetworkPolicy, Deployment, Service and
// PodDisruptionBudget, and the ControllerRevision that every Application has.
func newApplication(i int) *v1.Application {
	return &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("%s%d", namespacePrefix, i%namespaces), Name: fmt.Sprintf("app-%05d", i)},
		Spec: v1.ApplicationSpec{
			Image:    "registry.example.com/web:1",
			Replicas: new(int32(2)),
			Ports:    []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}},
			Env: []corev1.EnvVar{
				{Name: "LOG_LEVEL", Value: "info"},
				{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			},
			Config:        &v1.Config{MountPath: "/etc/web", Data: map[string]string{"web.yaml": "greeting: hello\n" + strings.Repeat("# What a configuration file says.\n", 8)}},
			NetworkPolicy: &v1.NetworkPolicy{},
		},
	}
}

// create makes the Applications from the first to before the last, and returns them in this order.
func (l *lab) create(ctx context.Context, first, last int) ([]*v1.Application, error) {
	created := make([]*v1.Application, last-first)
	err := inParallel(ctx, l.options.workers, last-first, func(ctx context.Context, i int) error {
		application := newApplication(first + i)
		var err error
		created[i], err = l.clients.fairlead.AppsV1().Applications(application.Namespace).Create(ctx, application, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("create Application %s/%s: %w", application.Namespace, application.Name, err)
		}
		return nil
	})
	return created, err
}

// atRate does something at a rate for a while, and returns the rate that came about.
func atRate(ctx context.Context, perSecond float64, lasting time.Duration, do func(ctx context.Context, i int) error) (float64, error) {
	const inFlight = 200
	return load.AtRate(ctx, perSecond, lasting, inFlight, do)
}

// atRandomTimes is atRate with each turn at a random moment of its period, as users come. At a steady beat, what else happens
// once in a period, such as the changes of another tenant or a batch of status, would coincide with every turn or with none.
func atRandomTimes(ctx context.Context, perSecond float64, lasting time.Duration, do func(ctx context.Context, i int) error) (float64, error) {
	period := time.Duration(float64(time.Second) / perSecond)
	return atRate(ctx, perSecond, lasting, func(ctx context.Context, i int) error {
		if err := sleep(ctx, rand.N(period)); err != nil {
			return err
		}
		return do(ctx, i)
	})
}

// inParallel does something n times, so many at once, and stops at the first error.
func inParallel(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	group, doing := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := 0; i < n && doing.Err() == nil; i++ {
		group.Go(func() error { return do(doing, i) })
	}
	return cmp.Or(group.Wait(), context.Cause(ctx))
}
