// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

const (
	fieldManager = "fairlead-install"
	pollInterval = 200 * time.Millisecond
)

// errNotServed: the cluster does not know the kind.
var errNotServed = errors.New("the cluster does not serve")

// cluster applies and deletes objects of any kind that it serves, and tells what it does.
type cluster struct {
	objects dynamic.Interface
	kube    kubernetes.Interface
	mapper  meta.RESTMapper
	out     io.Writer
}

func newCluster(config *rest.Config, out io.Writer) (*cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // No limit on our side: one object after the other is gentle enough.
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make discovery client: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served))
	return &cluster{objects: objects, kube: kube, mapper: mapper, out: out}, nil
}

// requireServed names everything that the cluster does not know, at once.
func (c *cluster) requireServed(objects []*unstructured.Unstructured) error {
	var missing []error
	for _, object := range objects {
		if _, err := c.resource(object); err != nil {
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

// resource returns the client for the object's kind, in its namespace if the kind has one.
func (c *cluster) resource(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("%w %s %s, which %s is: install what defines it, or take the component out of the overlay", errNotServed, kind.GroupVersion(), kind.Kind, object.GetName())
	}
	if err != nil {
		return nil, fmt.Errorf("ask the cluster for %s: %w", kind, err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.objects.Resource(mapping.Resource), nil
	}
	if object.GetNamespace() == "" {
		return nil, fmt.Errorf("%s %s has no namespace, but needs one", kind.Kind, object.GetName())
	}
	return c.objects.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
}

// apply takes over fields that another manager holds: the repository is where they are decided. An
// unknown field is an error.
func (c *cluster) apply(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := c.resource(object)
	if err != nil {
		return err
	}
	data, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name(object), err)
	}
	_, err = resource.Patch(ctx, object.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: fieldManager, Force: new(true), FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		return fmt.Errorf("apply %s: %w", name(object), err)
	}
	return nil
}

// removeAll deletes the objects from the last to the first, and returns once they are gone.
func (c *cluster) removeAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range slices.Backward(objects) {
		resource, err := c.resource(object)
		if errors.Is(err, errNotServed) {
			// What the cluster does not know, it does not have.
			fmt.Fprintln(c.out, "not there:", name(object))
			continue
		}
		if err != nil {
			return err
		}
		if err := c.remove(ctx, resource, object); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) remove(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured) error {
	// The pods go before the Deployment does, so the controller has stopped when its permissions go.
	err := resource.Delete(ctx, object.GetName(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)})
	if apierrors.IsNotFound(err) {
		fmt.Fprintln(c.out, "not there:", name(object))
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", name(object), err)
	}
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		_, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("wait for %s to go: %w", name(object), err)
	}
	fmt.Fprintln(c.out, "deleted:", name(object))
	return nil
}

func name(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetKind() + " " + object.GetName()
	}
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}
