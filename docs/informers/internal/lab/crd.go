// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// FieldManager is the name under which labs apply what they need.
const FieldManager = "lab"

// CRDs is the resource of CustomResourceDefinitions.
func CRDs() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

// WithCRD applies a CustomResourceDefinition, returns when it is served, and returns a function that deletes it.
func (l *Lab) WithCRD(ctx context.Context, manifest []byte, serves schema.GroupVersionResource) (remove func() error, err error) {
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return nil, err
	}
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(manifest, &definition.Object); err != nil {
		return nil, fmt.Errorf("parse the CustomResourceDefinition: %w", err)
	}
	name := definition.GetName()
	if _, err := client.Resource(CRDs()).Apply(ctx, name, definition, metav1.ApplyOptions{FieldManager: FieldManager, Force: true}); err != nil {
		return nil, fmt.Errorf("apply CustomResourceDefinition %s: %w", name, err)
	}
	remove = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		return client.Resource(CRDs()).Delete(ctx, name, metav1.DeleteOptions{})
	}
	err = Eventually(ctx, name+" to be served", func(ctx context.Context) (bool, error) {
		_, err := client.Resource(serves).List(ctx, metav1.ListOptions{Limit: 1})
		// The server answers 404 before it knows the resource, and 429 while its cache fills.
		if apierrors.IsNotFound(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}
