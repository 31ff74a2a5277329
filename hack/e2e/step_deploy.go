// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/internal/steps"
)

// operatorLabel selects the operator's pods.
const operatorLabel = "app.kubernetes.io/name=" + operatorName

// restricted is the label of a namespace in which the API server refuses every pod that may do more than it needs.
const restricted = "pod-security.kubernetes.io/enforce"

// deploy puts the operator into the cluster, and makes a namespace for Applications.
func (s *story) deploy(ctx context.Context) error {
	began := time.Now()
	if err := s.make(ctx, "deploy", "IMAGE="+operatorImage); err != nil {
		return err
	}
	s.out.Good("make deploy IMAGE=%s (%s)", operatorImage, steps.Since(began))
	pods, err := s.awaitOperator(ctx, ofImage(operatorImage))
	if err != nil {
		return err
	}
	s.installation = time.Since(began)
	where, err := s.kube.CoreV1().Namespaces().Get(ctx, operatorNamespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if level := where.Labels[restricted]; level != "restricted" {
		return fmt.Errorf("namespace %s has the label %s=%q, want restricted", operatorNamespace, restricted, level)
	}
	s.out.Good("%d pods Ready on one node, in a namespace with %s=restricted", len(pods), restricted)
	leader, err := s.awaitLeader(ctx, func(string) bool { return true })
	if err != nil {
		return err
	}
	s.out.Good("%s leads", leader)

	_, err = s.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{restricted: "restricted"},
	}}, metav1.CreateOptions{})
	return err
}

// trait is what the operator's container is waited for to have: its name for people, and the test.
type trait struct {
	name string
	of   func(*corev1.Container) bool
}

func ofImage(name string) trait {
	return trait{name, func(c *corev1.Container) bool { return c.Image == name }}
}

func withArgument(name string) trait {
	return trait{name, func(c *corev1.Container) bool { return slices.Contains(c.Args, name) }}
}

// awaitOperator waits until exactly the wanted number of pods exist, all Ready and with the trait.
func (s *story) awaitOperator(ctx context.Context, wanted trait) (pods []corev1.Pod, err error) {
	const replicas = 2
	err = s.await(ctx, "two replicas of the operator", func(ctx context.Context) (bool, string, error) {
		var err error
		pods, err = s.pods(ctx, operatorNamespace, operatorLabel)
		ready := 0
		for i := range pods {
			if podIsReady(&pods[i]) && wanted.of(&pods[i].Spec.Containers[0]) {
				ready++
			}
		}
		return len(pods) == replicas && ready == replicas, fmt.Sprintf("%d pods, %d Ready with %s", len(pods), ready, wanted.name), err
	})
	return pods, err
}

// leader returns the pod that holds the operator's Lease.
func (s *story) leader(ctx context.Context) (pod string, err error) {
	h, err := s.holder(ctx)
	return h.pod, err
}

// holder is the process that holds the Lease.
type holder struct {
	// pod is where it runs, and identity is its own: a container that was started again has another one.
	pod, identity string
	acquired      time.Time
}

func (s *story) holder(ctx context.Context) (holder, error) {
	leases, err := s.kube.CoordinationV1().Leases(operatorNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return holder{}, err
	}
	for _, lease := range leases.Items {
		identity, acquired := lease.Spec.HolderIdentity, lease.Spec.AcquireTime
		if identity != nil && acquired != nil && strings.HasPrefix(*identity, operatorName) {
			pod, _, _ := strings.Cut(*identity, "_")
			return holder{pod: pod, identity: *identity, acquired: acquired.Time}, nil
		}
	}
	return holder{}, errNoLeader
}

// awaitLeader waits until a pod leads that want accepts.
func (s *story) awaitLeader(ctx context.Context, want func(pod string) bool) (pod string, err error) {
	err = s.await(ctx, "a leader", func(ctx context.Context) (bool, string, error) {
		var err error
		pod, err = s.leader(ctx)
		return err == nil && want(pod), pod + " leads", err
	})
	return pod, err
}

// refuse applies an Application that the schema lets through and the webhook must not.
func (s *story) refuse(ctx context.Context) error {
	bad := newApplication("bad", workloadImage, nil)
	// The quantities are well-formed, and more is requested than allowed: no schema can refuse that.
	bad.Spec.Resources = &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceMemory: mustParse("2Gi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: mustParse("1Gi")},
	}
	const path = "spec.resources.requests"
	began := time.Now()
	var err error
	// That the Service leads to the replicas, kube-proxy may learn a moment after they are Ready. Until then nothing is
	// accepted either.
	waitErr := s.await(ctx, "the webhooks to answer", func(ctx context.Context) (bool, string, error) {
		err = s.create(ctx, bad, metav1.CreateOptions{})
		return err == nil || !apierrors.IsInternalError(err), fmt.Sprint(err), nil
	})
	if waitErr != nil {
		return waitErr
	}
	switch {
	case err == nil:
		return errors.New("it was accepted")
	case !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) && !strings.Contains(err.Error(), "denied the request"):
		return fmt.Errorf("no refusal, but: %w", err)
	case !strings.Contains(err.Error(), path):
		return fmt.Errorf("the refusal does not name %s: %w", path, err)
	}
	s.out.Good("refused (%s): %s", steps.Since(began), err)
	if !strings.Contains(err.Error(), "admission webhook") {
		s.out.Note("The message does not say that it came from the webhook.")
	}
	return nil
}
