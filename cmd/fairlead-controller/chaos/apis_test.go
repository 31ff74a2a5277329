// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/pkg/child"
)

// definition is a CustomResourceDefinition of an optional API. What it would check does not matter here.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: RESOURCE.GROUP
  annotations: {api-approved.kubernetes.io: "unapproved, a test"}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: RESOURCE, kind: KIND}
  conversion: CONVERSION
  versions:
  - {name: v1, served: SERVED, storage: STORED, subresources: {status: {}}, schema: &any {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v1beta1, served: true, storage: OTHER, subresources: {status: {}}, schema: *any}
`

// Nothing listens at this port.
const deadWebhook = `{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/convert"}}}`

// definitionOf returns the definition of an optional API: installed, or broken in one of two ways.
func definitionOf(kind child.Kind, condition string) (*unstructured.Unstructured, error) {
	// What the API is once it is installed.
	conversion, served, stored, other := "{strategy: None}", "true", "true", "false"
	switch {
	case condition == "install":
	case kind == child.HTTPRoute:
		// What is written needs the webhook.
		conversion, stored, other = deadWebhook, "false", "true"
	default:
		// The definition is there, and the version is not served.
		served = "false"
	}
	text := strings.NewReplacer("RESOURCE", kind.Resource, "GROUP", kind.Group, "KIND", kind.Kind, "CONVERSION", conversion,
		"SERVED", served, "STORED", stored, "OTHER", other).Replace(definition)
	object := &unstructured.Unstructured{}
	return object, yaml.Unmarshal([]byte(text), &object.Object)
}

// apis are the optional APIs that are broken.
type apis struct {
	mu     *sync.Mutex
	broken map[child.Kind]bool
}

func newAPIs() apis { return apis{&sync.Mutex{}, map[child.Kind]bool{}} }

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// api installs, breaks or removes an optional API, for all programs.
func api(ctx context.Context, w *world, arguments []string) error {
	return w.common.happen(w, slices.Concat(step{"api"}, arguments), func() error { return w.setAPI(ctx, optional(arguments[0]), arguments[1]) })
}

func optionalResources() []string {
	var names []string
	for _, kind := range child.OptionalKinds() {
		names = append(names, kind.Resource)
	}
	return names
}

func optional(resource string) child.Kind {
	kinds := child.OptionalKinds()
	return kinds[slices.IndexFunc(kinds, func(kind child.Kind) bool { return kind.Resource == resource })]
}

func (w *world) setAPI(ctx context.Context, kind child.Kind, condition string) error {
	client := w.dynamic.Resource(definitions)
	name := kind.Resource + "." + kind.Group
	set := w.common.apis
	set.mu.Lock()
	broken := set.broken[kind]
	set.broken[kind] = condition == "break"
	set.mu.Unlock()
	if condition == "remove" {
		// The API server deletes the objects first, and none that it cannot convert.
		if broken {
			if err := w.define(ctx, kind, "install"); err != nil {
				return err
			}
		}
		if err := tolerate(client.Delete(ctx, name, metav1.DeleteOptions{})); err != nil {
			return err
		}
		err := wait.PollUntilContextTimeout(ctx, period, insistence, true, func(ctx context.Context) (bool, error) {
			_, err := client.Get(ctx, name, metav1.GetOptions{})
			return apierrors.IsNotFound(err), ignoreNotFound(err)
		})
		if err != nil {
			return fmt.Errorf("wait until %s is gone: %w", name, err)
		}
		return nil
	}
	return w.define(ctx, kind, condition)
}

// define applies the definition of an optional API.
func (w *world) define(ctx context.Context, kind child.Kind, condition string) error {
	object, err := definitionOf(kind, condition)
	if err != nil {
		return err
	}
	_, err = w.dynamic.Resource(definitions).Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: user, Force: true})
	return err
}

// mendAPIs repairs what is broken, whichever program broke it: what an Application has there depends on the moment.
func (w *world) mendAPIs(ctx context.Context) error {
	for _, kind := range child.OptionalKinds() {
		w.common.apis.mu.Lock()
		broken := w.common.apis.broken[kind]
		w.common.apis.mu.Unlock()
		if broken {
			if err := api(ctx, w, []string{kind.Resource, "install"}); err != nil {
				return err
			}
		}
	}
	return nil
}
