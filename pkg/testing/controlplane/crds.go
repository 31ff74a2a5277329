// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

const fieldManager = "fairlead-tests"

// InstallCRDs applies every CustomResourceDefinition in the YAML files of a directory, and returns when the API
// server serves each served version and lists it in discovery. The definitions stay after the test, because other
// tests of the package use them. Installing the same directory again costs a request for each definition.
func (cp *ControlPlane) InstallCRDs(tb testing.TB, dir string) {
	tb.Helper()
	if err := cp.ApplyCRDs(tb.Context(), dir); err != nil {
		tb.Fatal(err)
	}
}

// installed remembers what ApplyCRDs has installed from each directory. It is safe for concurrent use.
type installed struct {
	mu          sync.Mutex
	directories map[string]directory
}

// directory has the text of the files, and for each definition its UID and generation at the API server.
type directory struct {
	text        string
	definitions map[string]stored
}

type stored struct {
	uid        types.UID
	generation int64
}

// ApplyCRDs is InstallCRDs for programs other than tests.
func (cp *ControlPlane) ApplyCRDs(ctx context.Context, dir string) error {
	if err := cp.applyCRDs(ctx, dir); err != nil {
		return fmt.Errorf("install CustomResourceDefinitions: %w", err)
	}
	return nil
}

func (cp *ControlPlane) applyCRDs(ctx context.Context, dir string) error {
	text, err := readFiles(dir)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(cp.Config())
	if err != nil {
		return err
	}
	crds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	// Each test asks for them, and an API server that is given a large definition parses, validates and stores it again.
	if same, err := cp.installed.same(ctx, crds, dir, text); same || err != nil {
		return err
	}
	definitions, err := readCRDs(text)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(cp.Config())
	if err != nil {
		return err
	}
	result := directory{text: text, definitions: map[string]stored{}}
	for i := range definitions {
		live, err := installCRD(ctx, crds, &definitions[i])
		if err != nil {
			return fmt.Errorf("%s: %w", definitions[i].GetName(), err)
		}
		if err := waitServed(ctx, client, discoverer, &definitions[i]); err != nil {
			return fmt.Errorf("%s: %w", definitions[i].GetName(), err)
		}
		result.definitions[live.GetName()] = stored{live.GetUID(), live.GetGeneration()}
	}
	cp.installed.remember(dir, result)
	return nil
}

// same reports whether the API server still has the definitions of the directory as they were installed.
func (in *installed) same(ctx context.Context, crds dynamic.ResourceInterface, dir, text string) (bool, error) {
	in.mu.Lock()
	known, found := in.directories[dir]
	in.mu.Unlock()
	if !found || known.text != text {
		return false, nil
	}
	for name, before := range known.definitions {
		live, err := crds.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if now := (stored{live.GetUID(), live.GetGeneration()}); now != before || live.GetDeletionTimestamp() != nil {
			return false, nil
		}
	}
	return true, nil
}

func (in *installed) remember(dir string, result directory) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.directories == nil {
		in.directories = map[string]directory{}
	}
	in.directories[dir] = result
}

// readFiles returns the documents in all *.yaml files of dir.
func readFiles(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "---\n%s\n", content)
	}
	return text.String(), nil
}

// readCRDs returns the definitions of the text. There must be at least one, because an empty directory is most likely the
// wrong one.
func readCRDs(text string) ([]unstructured.Unstructured, error) {
	var definitions []unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4<<10)
	for {
		var object unstructured.Unstructured
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if object.GetKind() == "CustomResourceDefinition" {
			definitions = append(definitions, object)
		}
	}
	if len(definitions) == 0 {
		return nil, errors.New("no *.yaml file has a definition; generate them first")
	}
	return definitions, nil
}

// installCRD applies a definition, and returns it once it is established.
func installCRD(ctx context.Context, crds dynamic.ResourceInterface, definition *unstructured.Unstructured) (live *unstructured.Unstructured, err error) {
	err = wait.PollUntilContextCancel(ctx, readyPeriod, true, func(ctx context.Context) (bool, error) {
		_, err := crds.Apply(ctx, definition.GetName(), definition, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		if apierrors.IsTimeout(err) {
			return false, nil // A definition is large, and the machine may be busy.
		}
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	err = wait.PollUntilContextCancel(ctx, readyPeriod, true, func(ctx context.Context) (bool, error) {
		live, err = crds.Get(ctx, definition.GetName(), metav1.GetOptions{})
		return err == nil && established(live), err
	})
	if err != nil {
		return nil, fmt.Errorf("wait until it is established: %w", err)
	}
	return live, nil
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
