// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/hack/internal/objects"
)

const (
	fieldManager = "fairlead-install"
	pollInterval = 200 * time.Millisecond
	// A user reads what a deletion waits for after firstReport, then when that changes: it is looked at every reportPeriod.
	firstReport  = time.Second
	reportPeriod = 5 * time.Second
	// lastReport is how long a command that ended early takes to say what stays.
	lastReport = 5 * time.Second
)

// cluster applies and deletes objects, and prints what it does.
type cluster struct {
	objects *objects.Client
	kube    kubernetes.Interface
	out     io.Writer
}

func newCluster(config *rest.Config, out io.Writer) (*cluster, error) {
	client, err := objects.NewClient(config, fieldManager)
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return &cluster{objects: client, kube: kube, out: out}, nil
}

// requireServed names everything that the cluster does not know, at once.
func (c *cluster) requireServed(all []*unstructured.Unstructured) error {
	var missing []error
	for _, object := range all {
		_, err := c.objects.ResourceOf(object, "")
		if errors.Is(err, objects.ErrNotServed) {
			err = fmt.Errorf("%w: install what defines it, or take the component out of the overlay", err)
		}
		missing = append(missing, err)
	}
	return errors.Join(missing...)
}

// removeAll deletes the objects from the last to the first, and returns once they are gone. The pods go before the
// Deployment does, so the controller has stopped when its permissions go. A namespace that no deployment made stays.
func (c *cluster) removeAll(ctx context.Context, all []*unstructured.Unstructured) error {
	for _, object := range slices.Backward(all) {
		foreign, err := c.isForeignNamespace(ctx, object)
		if err != nil {
			return err
		}
		if foreign {
			fmt.Fprintf(c.out, "stays: Namespace %s, which no deployment made, with what is in it, such as the Secret that a controller creates; if you need none of it: kubectl delete namespace %s\n",
				object.GetName(), object.GetName())
			continue
		}
		found, err := c.objects.Delete(ctx, object, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)})
		if err != nil {
			return err
		}
		if found {
			fmt.Fprintln(c.out, "deleted:", objects.Name(object))
		} else {
			fmt.Fprintln(c.out, "not there:", objects.Name(object))
		}
	}
	return nil
}

// isForeignNamespace reports whether a rendered object is a namespace that exists without the label of a deployment: a controller outside of
// the cluster made it for its Secret, or a user did.
func (c *cluster) isForeignNamespace(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	if object.GetKind() != "Namespace" || object.GetLabels()[nameLabel] == "" {
		return false, nil
	}
	live, err := c.kube.CoreV1().Namespaces().Get(ctx, object.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err): // The deletion says so.
		return false, nil
	case err != nil:
		return false, fmt.Errorf("get namespace %s: %w", object.GetName(), err)
	}
	return live.Labels[nameLabel] != object.GetLabels()[nameLabel], nil
}
