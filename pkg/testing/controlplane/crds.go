// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

const fieldManager = "fairlead-tests"

// InstallCRDs applies every CustomResourceDefinition in the YAML files of a directory, and returns when the API
// server serves each served version and lists it in discovery. The definitions stay after the test, because other
// tests of the package use them. Installing the same directory again costs a few requests.
func (cp *ControlPlane) InstallCRDs(tb testing.TB, dir string) {
	tb.Helper()
	if err := cp.ApplyCRDs(tb.Context(), dir); err != nil {
		tb.Fatal(err)
	}
}

// ApplyCRDs is InstallCRDs for programs other than tests.
func (cp *ControlPlane) ApplyCRDs(ctx context.Context, dir string) error {
	definitions, err := readCRDs(dir)
	if err != nil {
		return fmt.Errorf("install CustomResourceDefinitions: %w", err)
	}
	client, err := dynamic.NewForConfig(cp.Config())
	if err != nil {
		return err
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(cp.Config())
	if err != nil {
		return err
	}
	for i := range definitions {
		if err := installCRD(ctx, client, discoverer, &definitions[i]); err != nil {
			return fmt.Errorf("install CustomResourceDefinition %s: %w", definitions[i].GetName(), err)
		}
	}
	return nil
}

// readCRDs returns the definitions in all *.yaml files of dir. There must be at least one, because an empty directory
// is most likely the wrong one.
func readCRDs(dir string) ([]unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var definitions []unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4<<10)
		for {
			var object unstructured.Unstructured
			err := decoder.Decode(&object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if object.GetKind() == "CustomResourceDefinition" {
				definitions = append(definitions, object)
			}
		}
	}
	if len(definitions) == 0 {
		return nil, fmt.Errorf("no *.yaml file in %s has a definition; generate them first", dir)
	}
	return definitions, nil
}

func installCRD(ctx context.Context, client dynamic.Interface, discoverer discovery.ServerResourcesInterface, definition *unstructured.Unstructured) error {
	crds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	err := wait.PollUntilContextCancel(ctx, readyPeriod, true, func(ctx context.Context) (bool, error) {
		_, err := crds.Apply(ctx, definition.GetName(), definition, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		if apierrors.IsTimeout(err) {
			return false, nil // A definition is large, and the machine may be busy.
		}
		return err == nil, err
	})
	if err != nil {
		return err
	}
	err = wait.PollUntilContextCancel(ctx, readyPeriod, true, func(ctx context.Context) (bool, error) {
		live, err := crds.Get(ctx, definition.GetName(), metav1.GetOptions{})
		return err == nil && established(live), err
	})
	if err != nil {
		return fmt.Errorf("wait until it is established: %w", err)
	}
	return waitServed(ctx, client, discoverer, definition)
}

func established(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, condition := range conditions {
		c, ok := condition.(map[string]any)
		if ok && c["type"] == "Established" {
			return c["status"] == "True"
		}
	}
	return false
}

// waitServed lists each served version until the answer is not 404, and then waits for it in discovery. A definition
// is established, served and discovered at different times.
func waitServed(ctx context.Context, client dynamic.Interface, discoverer discovery.ServerResourcesInterface, definition *unstructured.Unstructured) error {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, version := range versions {
		v, ok := version.(map[string]any)
		if !ok || v["served"] != true {
			continue
		}
		resource := schema.GroupVersionResource{Group: group, Version: fmt.Sprint(v["name"]), Resource: plural}
		err := wait.PollUntilContextCancel(ctx, readyPeriod, true, func(ctx context.Context) (bool, error) {
			_, err := client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			if notYet(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("wait until %s is served: %w", resource, err)
		}
		if err := waitDiscovered(ctx, discoverer, resource); err != nil {
			return fmt.Errorf("wait until %s is in discovery: %w", resource, err)
		}
	}
	return nil
}

func waitDiscovered(ctx context.Context, discoverer discovery.ServerResourcesInterface, resource schema.GroupVersionResource) error {
	return wait.PollUntilContextCancel(ctx, readyPeriod, true, func(context.Context) (bool, error) {
		found, err := discoverer.ServerResourcesForGroupVersion(resource.GroupVersion().String())
		if notYet(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(found.APIResources, func(r metav1.APIResource) bool { return r.Name == resource.Resource }), nil
	})
}

// notYet reports whether the error is one that an API server returns before it serves a new resource.
func notYet(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err)
}
