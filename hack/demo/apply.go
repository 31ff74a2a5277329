// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

// applier brings manifests into one namespace and remembers what it made outside of it.
type applier struct {
	clients   *clients
	namespace string
	// outside are the objects without a namespace, which do not go with the namespace.
	outside []outsideObject
}

type outsideObject struct {
	name   string
	kind   string
	client dynamic.ResourceInterface
}

// apply applies the manifests in their order, as `kubectl apply --server-side` does.
func (a *applier) apply(ctx context.Context, manifests []manifest) error {
	for _, m := range manifests {
		if err := a.applyOne(ctx, m); err != nil {
			return fmt.Errorf("apply %s: %w", m, err)
		}
	}
	return nil
}

func (a *applier) applyOne(ctx context.Context, m manifest) error {
	gvk := m.object.GroupVersionKind()
	mapping, err := a.clients.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	resource := a.clients.dynamic.Resource(mapping.Resource)
	object := m.object.DeepCopy()
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		object.SetNamespace(a.namespace)
		_, err := resource.Namespace(a.namespace).Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		return err
	}
	// Somebody else's object of this name is neither changed now nor deleted at the end.
	_, err = resource.Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err == nil {
		a.outside = append(a.outside, outsideObject{name: object.GetName(), kind: object.GetKind(), client: resource})
	}
	return err
}

// deleteOutside deletes what apply created outside of the namespace.
func (a *applier) deleteOutside(ctx context.Context) error {
	var errs []error
	for _, object := range a.outside {
		err := object.client.Delete(ctx, object.name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("delete %s %s: %w", object.kind, object.name, err))
		}
	}
	return errors.Join(errs...)
}
