// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/hack/internal/objects"
)

// waitAvailable returns once every replica is of the applied revision and available. Meanwhile it
// prints what is in the way, each time that changes.
func waitAvailable(ctx context.Context, c *cluster, object *unstructured.Unstructured) error {
	var printed string
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		deployment, err := c.kube.AppsV1().Deployments(object.GetNamespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, fmt.Errorf("get %s: %w", objects.Name(object), err)
		}
		if rolledOut(deployment) {
			return true, nil
		}
		pods, err := podsOf(ctx, c, deployment)
		if err != nil {
			return false, err
		}
		if state := strings.Join(append([]string{counts(deployment)}, problems(deployment, pods)...), "\n  "); state != printed {
			fmt.Fprintf(c.out, "waiting: %s %s\n", objects.Name(object), state)
			printed = state
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w\n  %s", objects.Name(object), orCause(ctx, err), printed)
	}
	fmt.Fprintln(c.out, "available:", objects.Name(object))
	return nil
}

// orCause names the timeout instead of "context deadline exceeded".
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func podsOf(ctx context.Context, c *cluster, deployment *appsv1.Deployment) ([]corev1.Pod, error) {
	selector := metav1.FormatLabelSelector(deployment.Spec.Selector)
	pods, err := c.kube.CoreV1().Pods(deployment.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("list the pods of Deployment %s/%s: %w", deployment.Namespace, deployment.Name, err)
	}
	return pods.Items, nil
}

func rolledOut(deployment *appsv1.Deployment) bool {
	status, wanted := deployment.Status, *deployment.Spec.Replicas
	return status.ObservedGeneration >= deployment.Generation && status.UpdatedReplicas == wanted &&
		status.AvailableReplicas == wanted && status.Replicas == wanted
}

func counts(deployment *appsv1.Deployment) string {
	status := deployment.Status
	return fmt.Sprintf("has %d of %d pods updated, %d available", status.UpdatedReplicas, *deployment.Spec.Replicas, status.AvailableReplicas)
}

// problems are the words of Kubernetes, each once.
func problems(deployment *appsv1.Deployment, pods []corev1.Pod) []string {
	var all []string
	for _, condition := range deployment.Status.Conditions {
		failed := condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue ||
			condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse
		if failed {
			all = append(all, condition.Reason+": "+condition.Message)
		}
	}
	for i := range pods {
		all = append(all, problemsOfPod(&pods[i])...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func problemsOfPod(pod *corev1.Pod) []string {
	var all []string
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			all = append(all, "pod not scheduled: "+condition.Message)
		}
	}
	for _, container := range pod.Status.ContainerStatuses {
		if waiting := container.State.Waiting; waiting != nil && waiting.Message != "" {
			all = append(all, fmt.Sprintf("container %s: %s: %s", container.Name, waiting.Reason, waiting.Message))
		}
		if ended := container.LastTerminationState.Terminated; ended != nil {
			all = append(all, fmt.Sprintf("container %s ended before with exit code %d (%s); see its log: kubectl logs -n %s %s --previous",
				container.Name, ended.ExitCode, ended.Reason, pod.Namespace, pod.Name))
		}
	}
	return all
}
