// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"errors"
	"fmt"
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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

const pollInterval = 100 * time.Millisecond

// ErrNotServed is the error of an object whose kind the cluster does not know.
var ErrNotServed = errors.New("the cluster does not serve")

// Client applies and deletes objects of any kind that the cluster serves.
type Client struct {
	dynamic.Interface
	fieldManager string
	mapper       meta.ResettableRESTMapper
}

// NewClient returns a client that applies fields under the name of a field manager.
func NewClient(config *rest.Config, fieldManager string) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // No limit on our side: one object after the other is gentle enough.
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make discovery client: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served))
	return &Client{Interface: client, fieldManager: fieldManager, mapper: mapper}, nil
}

// ResourceOf returns the client for an object's kind, in its namespace if the kind has one. An object without a namespace
// gets the default, which may be "".
func (c *Client) ResourceOf(object *unstructured.Unstructured, defaultNamespace string) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("%w %s %s, which %s is", ErrNotServed, kind.GroupVersion(), kind.Kind, object.GetName())
	}
	if err != nil {
		return nil, fmt.Errorf("ask the cluster for %s: %w", kind, err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.Resource(mapping.Resource), nil
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(defaultNamespace)
	}
	if object.GetNamespace() == "" {
		return nil, fmt.Errorf("%s needs a namespace and has none", Name(object))
	}
	return c.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
}

// Apply takes over fields that another manager holds. An unknown field is an error.
func (c *Client) Apply(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := c.ResourceOf(object, "")
	if err != nil {
		return err
	}
	data, err := object.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode %s: %w", Name(object), err)
	}
	_, err = resource.Patch(ctx, object.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: c.fieldManager, Force: new(true), FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		return fmt.Errorf("apply %s: %w", Name(object), err)
	}
	return nil
}

// Delete deletes an object, and returns once it is gone. It reports whether there was one.
func (c *Client) Delete(ctx context.Context, object *unstructured.Unstructured, options metav1.DeleteOptions) (found bool, err error) {
	resource, err := c.ResourceOf(object, "")
	if errors.Is(err, ErrNotServed) {
		return false, nil // What the cluster does not know, it does not have.
	}
	if err != nil {
		return false, err
	}
	err = resource.Delete(ctx, object.GetName(), options)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("delete %s: %w", Name(object), err)
	}
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		_, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return true, fmt.Errorf("wait for %s to go: %w", Name(object), orCause(ctx, err))
	}
	return true, nil
}

// orCause names the timeout instead of "context deadline exceeded".
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
