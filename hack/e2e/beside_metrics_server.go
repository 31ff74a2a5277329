// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/e2e/internal/node"
	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	// fewestPods is the fixed number before and after the autoscaler, and its minimum: fewer would be a dip.
	fewestPods = 3
	mostPods   = 6
)

// autoscalerFlags make kube-controller-manager decide in seconds instead of minutes.
func autoscalerFlags() []string {
	var all []string
	for _, flag := range []string{"sync-period=5s", "cpu-initialization-period=10s", "initial-readiness-delay=5s", "downscale-stabilization=15s"} {
		all = append(all, "--component-flag=kube-controller-manager=--horizontal-pod-autoscaler-"+flag)
	}
	return all
}

func (s *story) metricsServerSteps() []steps.Step {
	return []steps.Step{
		{
			Title:    "Start metrics-server beside the kubelet",
			Expected: "the CPU that the Application's pods use, at the API server",
			Timeout:  3 * time.Minute,
			Run:      s.startMetricsServer,
		},
		{
			Title:    "Hand over to the autoscaler, scale under load, and hand back",
			Expected: "more pods under load and fewer after it, never fewer than the minimum, and not one failed request",
			Timeout:  8 * time.Minute,
			Run:      s.autoscale,
		},
	}
}

func (s *story) startMetricsServer(ctx context.Context) error {
	began := time.Now()
	if err := s.applyManifest(ctx, "metrics-server.yaml"); err != nil {
		return err
	}
	config := s.besideKubeconfig(metricsServerName)
	err := s.startBeside(ctx, metricsServerName, "kube-system",
		"--kubeconfig="+config, "--authentication-kubeconfig="+config, "--authorization-kubeconfig="+config,
		"--bind-address="+node.IP, "--secure-port=4443", "--cert-dir="+filepath.Join(s.options.node(), metricsServerName),
		"--kubelet-insecure-tls", "--kubelet-preferred-address-types=InternalIP", "--kubelet-use-node-status-port", "--metric-resolution=10s", "--kubelet-request-timeout=5s")
	if err != nil {
		return err
	}
	err = s.await(ctx, "the metrics of the pods", func(ctx context.Context) (bool, string, error) {
		answer, err := s.kube.CoreV1().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/namespaces/" + namespace + "/pods").Do(ctx).Raw()
		return strings.Contains(string(answer), `"cpu":`), string(answer), err
	})
	if err != nil {
		return err
	}
	s.out.Good("metrics-server reports the CPU of the pods (%s)", steps.Since(began))
	return nil
}

// autoscale takes an Application from a fixed number of pods to an autoscaler and back, with load in between.
func (s *story) autoscale(ctx context.Context) error {
	if err := s.patch(ctx, fmt.Sprintf(`{"spec":{"image":%q,"replicas":%d,"resources":{"requests":{"cpu":"50m"}}}}`, workloadImage, fewestPods)); err != nil {
		return err
	}
	if err := s.awaitReady(ctx, webName); err != nil {
		return err
	}
	if err := s.awaitPods(ctx, fewestPods); err != nil {
		return err
	}
	url, err := s.url(ctx)
	if err != nil {
		return err
	}
	seen, stop, err := s.watchReplicas(ctx)
	if err != nil {
		return err
	}
	defer stop()
	plain := asked{newClient(), url}
	err = s.during(ctx, plain, "handing over to the autoscaler, and scaling", func(ctx context.Context, _ *answers) error { return s.scaleUnderLoad(ctx, url) })
	if err != nil {
		return err
	}
	err = s.during(ctx, plain, "handing back to a fixed number", func(ctx context.Context, _ *answers) error {
		if err := s.patch(ctx, fmt.Sprintf(`{"spec":{"autoscaling":null,"replicas":%d}}`, fewestPods+1)); err != nil {
			return err
		}
		if err := s.awaitReady(ctx, webName); err != nil {
			return err
		}
		if err := s.awaitPods(ctx, fewestPods+1); err != nil {
			return err
		}
		_, err := s.kube.AutoscalingV2().HorizontalPodAutoscalers(namespace).Get(ctx, webName, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("the autoscaler is still there"), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	values := seen()
	if slices.Min(values) < fewestPods || slices.Max(values) <= fewestPods+1 {
		return fmt.Errorf("spec.replicas of the Deployment were %v, want never less than %d, and more under load", values, fewestPods)
	}
	s.out.Good("spec.replicas of the Deployment, in turn: %v", values)
	return nil
}

// scaleUnderLoad lets an autoscaler take over, and gives the pods work until there are as many as there may be.
func (s *story) scaleUnderLoad(ctx context.Context, url string) error {
	patch := fmt.Sprintf(`{"spec":{"replicas":null,"autoscaling":{"minReplicas":%d,"maxReplicas":%d,"targetCPUUtilizationPercentage":50}}}`, fewestPods, mostPods)
	if err := s.patch(ctx, patch); err != nil {
		return err
	}
	if err := s.awaitReady(ctx, webName); err != nil {
		return err
	}
	began := time.Now()
	worked, rest := keepAsking(ctx, url+"work")
	defer rest()
	if err := s.awaitPods(ctx, mostPods); err != nil {
		return err
	}
	rest()
	if err := worked.check(); err != nil {
		return fmt.Errorf("work: %w", err)
	}
	s.out.Good("under load from %d to %d pods, all ready (%s)", fewestPods, mostPods, steps.Since(began))
	s.figures = append(s.figures, figure{fmt.Sprintf("metrics-server: from load to %d ready pods", mostPods), steps.Since(began), "measured"})
	began = time.Now()
	if err := s.awaitPods(ctx, fewestPods); err != nil {
		return err
	}
	s.out.Good("without load back to %d (%s)", fewestPods, steps.Since(began))
	return nil
}

// watchReplicas returns what spec.replicas of the Deployment has been, in turn.
func (s *story) watchReplicas(ctx context.Context) (seen func() []int32, stop func(), err error) {
	watch, err := s.kube.AppsV1().Deployments(namespace).Watch(ctx, metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + webName})
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	var values []int32
	go func() {
		for event := range watch.ResultChan() {
			deployment, ok := event.Object.(*appsv1.Deployment)
			mu.Lock()
			if ok && (len(values) == 0 || values[len(values)-1] != *deployment.Spec.Replicas) {
				values = append(values, *deployment.Spec.Replicas)
			}
			mu.Unlock()
		}
	}()
	return func() []int32 {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(values)
	}, watch.Stop, nil
}
