// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/crdschema"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
	"fairlead.dev/fairlead/pkg/testing/schemagen"
)

const root = "../../../.."

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}

// TestTheAPIServerAcceptsTheChildren draws Applications. The API server stores each, without webhooks, and accepts
// its children if Fairlead finds no error in it.
func TestTheAPIServerAcceptsTheChildren(t *testing.T) {
	cp := shared.Get(t)
	cp.InstallCRDs(t, filepath.Join(root, "artifacts", "crds"))
	namespace := cp.Namespace(t)
	client := dynamic.NewForConfigOrDie(cp.Config())
	objects := applications(t)
	drawn, valid := 0, 0
	fixedseed.Check(t, func(t *rapid.T) {
		object := &unstructured.Unstructured{Object: objects.Draw(t, "Application").Fields}
		object.SetNamespace(namespace)
		ctx := context.Background()
		resource := v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)
		if _, err := client.Resource(resource).Namespace(namespace).Create(ctx, object, dryRun); err != nil {
			t.Fatalf("the API server refuses the Application: %v", err)
		}
		app := application(t, object)
		drawn++
		if errs := validation.ValidateApplication(app, validation.Options{}); len(errs) > 0 {
			for _, err := range errs {
				if err.Field == "" {
					t.Fatalf("refused without a field: %v", err)
				}
			}
			return // It is Invalid, and has no children.
		}
		valid++
		children, err := render.Children(app, render.Facts{})
		if err != nil {
			t.Fatalf("render: %v", err)
		}
		for _, desired := range children {
			accept(ctx, t, client, desired)
		}
	})
	if !fixedseed.IsRandom() && valid < drawn/10 {
		t.Errorf("of %d Applications only %d are valid", drawn, valid)
	}
}

// accept lets the API server check a child, if it is of a built-in kind.
func accept(ctx context.Context, t *rapid.T, client dynamic.Interface, desired child.Desired) {
	t.Helper()
	if desired.Kind.Optional() {
		return
	}
	object, err := desired.Object()
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Resource(desired.Kind.GroupVersionResource()).Namespace(desired.Namespace).Create(ctx, object, dryRun)
	if err != nil && !apierrors.IsAlreadyExists(err) { // The namespace has a ConfigMap and a ServiceAccount of its own.
		t.Fatalf("nothing is wrong with the Application, but the API server refuses %s: %v", desired.Ref, err)
	}
}

func application(t *rapid.T, object *unstructured.Unstructured) *v1.Application {
	t.Helper()
	encoded, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	app := &v1.Application{}
	if err := json.Unmarshal(encoded, app); err != nil {
		t.Fatalf("the API server stores it, and it cannot be decoded: %v", err)
	}
	app.UID, app.Generation = "2b0e8e3c-5f0a-4b57-9d3e-9a3c1b7d5f10", 1
	app.Spec.ClassName = "" // There is no class.
	return app
}

// applications are drawn from the golden files.
func applications(t *testing.T) *rapid.Generator[schemagen.Object] {
	t.Helper()
	resources, err := crdschema.Load(filepath.Join(root, "artifacts", "crds"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "pkg", "render", "testdata", "golden", "*.in.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var seeds []map[string]any
	for _, file := range files {
		content, err := os.ReadFile(file) //nolint:gosec // a file of the repository
		if err != nil {
			t.Fatal(err)
		}
		for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
			object, err := crdschema.Decode(document)
			if err == nil && object["kind"] == v1.ApplicationKind && len(resources[v1.ApplicationKind].Check(t.Context(), object)) == 0 {
				seeds = append(seeds, object)
			}
		}
	}
	generator, err := schemagen.New(t.Context(), resources[v1.ApplicationKind], seeds...)
	if err != nil {
		t.Fatal(err)
	}
	return generator.Objects(t.Context())
}
