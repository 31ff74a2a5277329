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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// errNotAsked means that the API server accepted an Application that the webhooks refuse.
var errNotAsked = errors.New("it did not ask them yet")

// outOfCluster begins the names of the configurations by which a controller outside of the cluster registers its webhooks.
const outOfCluster = "fairlead-out-of-cluster"

// leftWebhook is a webhook configuration of a controller outside of the cluster.
type leftWebhook struct{ kind, name string }

// leftWebhooks returns those that are registered. Such a controller runs, or was killed.
func (c *cluster) leftWebhooks(ctx context.Context) (left []leftWebhook, err error) {
	registration := c.kube.AdmissionregistrationV1()
	mutating, err := registration.MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list mutatingwebhookconfigurations: %w", err)
	}
	validating, err := registration.ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list validatingwebhookconfigurations: %w", err)
	}
	for i := range mutating.Items {
		left = append(left, leftWebhook{"MutatingWebhookConfiguration", mutating.Items[i].Name})
	}
	for i := range validating.Items {
		left = append(left, leftWebhook{"ValidatingWebhookConfiguration", validating.Items[i].Name})
	}
	return slices.DeleteFunc(left, func(webhook leftWebhook) bool { return !strings.HasPrefix(webhook.name, outOfCluster) }), nil
}

// printLeftWebhooks names the webhook configurations of a controller outside of the cluster. It takes them back when it stops; one
// that was killed leaves them, and after the next install the API server asks where nothing answers.
func (c *cluster) printLeftWebhooks(ctx context.Context) error {
	left, err := c.leftWebhooks(ctx)
	if err != nil {
		return err
	}
	for _, webhook := range left {
		fmt.Fprintf(c.out, "stays: %s %s, of a controller outside of the cluster, which takes it back when it stops; if that was killed: kubectl delete %s %s\n",
			webhook.kind, webhook.name, strings.ToLower(webhook.kind), webhook.name)
	}
	return nil
}

func isWebhookConfiguration(object *unstructured.Unstructured) bool {
	return object.GetKind() == "ValidatingWebhookConfiguration"
}

// waitAnswering returns once the API server calls the webhooks and reaches them: a Service may not lead to ready pods on
// every node yet, and until it does, the API server refuses Applications. It creates, in a dry run, an Application that
// only the webhooks refuse: an API server that accepts it does not know them yet.
//
// If they do not answer in time (a firewall before the nodes, a Service network that the API server is not in), it
// prints that, and returns no error: everything is installed.
func waitAnswering(ctx context.Context, c *cluster, timeout time.Duration) error {
	probe := &unstructured.Unstructured{}
	probe.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
	probe.SetNamespace(metav1.NamespaceDefault)
	probe.SetName("fairlead-deploy-probe")
	probe.Object["spec"] = map[string]any{
		"image":       "registry.example.com/probe:1",
		"podMetadata": map[string]any{"labels": map[string]any{v1.LabelApplication: "of the controller alone"}},
	}
	applications := c.objects.Resource(v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)).Namespace(metav1.NamespaceDefault)
	last := errNotAsked
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		_, err := applications.Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		switch {
		case ctx.Err() != nil: // The time is over; the last answer counts.
		case err == nil:
			last = errNotAsked
		case apierrors.IsInvalid(err):
			return true, nil // Only the webhooks say that. One that is not reached is an internal error.
		default:
			last = err
		}
		return false, nil //nolint:nilerr // It is kept in last; the next try may do better.
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("wait for the webhooks: %w", context.Cause(ctx))
	case wait.Interrupted(err):
		fmt.Fprintf(c.out, "The API server does not reach the webhooks yet, and refuses Applications until it does: %v\n", last)
		return nil
	case err != nil:
		return err
	}
	fmt.Fprintln(c.out, "answering: the webhooks")
	return nil
}
