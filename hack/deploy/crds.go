// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"
)

var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

func installCRDs(ctx context.Context, c *cluster, o options) error {
	crds, err := readCRDs(o.crds)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if err := c.apply(ctx, crd); err != nil {
			return err
		}
		if err := c.waitEstablished(ctx, crd.GetName()); err != nil {
			return err
		}
		fmt.Fprintln(c.out, "installed:", crd.GetName())
	}
	return nil
}

func uninstallCRDs(ctx context.Context, c *cluster, o options) error {
	crds, err := readCRDs(o.crds)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if err := c.removeCRD(ctx, crd); err != nil {
			return err
		}
	}
	return nil
}

// tellWhatStays counts the objects that nobody looks after any more.
func tellWhatStays(ctx context.Context, c *cluster, o options) error {
	crds, err := readCRDs(o.crds)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		objects, err := c.objectsOf(ctx, crd)
		if err != nil {
			return err
		}
		held := 0
		for i := range objects {
			if len(objects[i].GetFinalizers()) > 0 {
				held++
			}
		}
		fmt.Fprintf(c.out, "stays: %s, with %d objects\n", crd.GetName(), len(objects))
		if held > 0 {
			fmt.Fprintf(c.out, "stays: %d of these have a finalizer, and cannot be deleted until Fairlead is deployed again\n", held)
		}
	}
	fmt.Fprintln(c.out, "What Fairlead made for Applications stays too. Nobody repairs or changes it until Fairlead is deployed again.")
	return nil
}

func readCRDs(directory string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", directory, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no *.yaml in %s", directory)
	}
	var crds []*unstructured.Unstructured
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, &crd.Object); err != nil {
			return nil, fmt.Errorf("parse %s: %w", file, err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

// waitEstablished returns once the API server serves the CRD.
func (c *cluster) waitEstablished(ctx context.Context, crd string) error {
	var last string
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		live, err := c.objects.Resource(crdResource).Get(ctx, crd, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		var established bool
		established, last, err = isEstablished(live)
		return established, err
	})
	if err != nil {
		return fmt.Errorf("wait for CRD %s to be established (%s): %w", crd, last, err)
	}
	return nil
}

// isEstablished returns also what speaks against it.
func isEstablished(live *unstructured.Unstructured) (bool, string, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, crd); err != nil {
		return false, "", fmt.Errorf("decode CRD %s: %w", live.GetName(), err)
	}
	established := false
	var problems []string
	for _, condition := range crd.Status.Conditions {
		switch {
		case condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue:
			established = true
		case condition.Status == apiextensionsv1.ConditionFalse:
			problems = append(problems, fmt.Sprintf("%s is False: %s", condition.Type, condition.Message))
		}
	}
	return established, strings.Join(problems, "; "), nil
}

// removeCRD deletes a CRD and returns once it is gone. The API server deletes all objects of its
// kind first; it waits for those that have a finalizer.
func (c *cluster) removeCRD(ctx context.Context, crd *unstructured.Unstructured) error {
	objects, err := c.objectsOf(ctx, crd)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "deleting: %s and %d objects of it, with what they own\n", crd.GetName(), len(objects))
	for i := range objects {
		fmt.Fprintln(c.out, "deleting:", name(&objects[i]))
	}
	err = c.objects.Resource(crdResource).Delete(ctx, crd.GetName(), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		fmt.Fprintln(c.out, "not there:", crd.GetName())
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete CRD %s: %w", crd.GetName(), err)
	}
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		_, err := c.objects.Resource(crdResource).Get(ctx, crd.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("wait for CRD %s to go (an Application with deletionPolicy Orphan goes only while the controller runs): %w", crd.GetName(), orCause(ctx, err))
	}
	fmt.Fprintln(c.out, "deleted:", crd.GetName())
	return nil
}

// objectsOf returns the objects of the CRD's kind, and none if the cluster does not know it.
func (c *cluster) objectsOf(ctx context.Context, crd *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, definition); err != nil {
		return nil, fmt.Errorf("decode CRD %s: %w", crd.GetName(), err)
	}
	for _, version := range definition.Spec.Versions {
		if !version.Storage {
			continue
		}
		resource := schema.GroupVersionResource{Group: definition.Spec.Group, Version: version.Name, Resource: definition.Spec.Names.Plural}
		objects, err := c.objects.Resource(resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		return objects.Items, nil
	}
	return nil, fmt.Errorf("CRD %s has no storage version", crd.GetName())
}
