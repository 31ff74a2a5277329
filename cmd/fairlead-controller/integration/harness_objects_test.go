// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/retry"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	fairleadscheme "fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
)

// scheme knows every Go type that a test reads or writes.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(kubescheme.AddToScheme(s))
	utilruntime.Must(fairleadscheme.AddToScheme(s))
	return s
}()

// object is a pointer to a Kubernetes type.
type object[T any] interface {
	*T
	child.Object
}

// apply applies YAML (one or more documents) or typed objects, as kubectl apply --server-side
// does. Objects without a namespace get that of the test.
func (e *env) apply(manifests ...any) {
	e.Helper()
	for _, manifest := range manifests {
		for _, u := range e.decode(manifest) {
			if _, err := e.resource(u.GroupVersionKind()).Apply(e.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: "kubectl", Force: true}); err != nil {
				e.Fatalf("apply %s: %v", e.ref(u.GetKind(), u.GetName()), err)
			}
		}
	}
}

// create creates YAML or typed objects, as kubectl create does.
func (e *env) create(manifests ...any) {
	e.Helper()
	for _, manifest := range manifests {
		for _, u := range e.decode(manifest) {
			if _, err := e.resource(u.GroupVersionKind()).Create(e.Context(), u, metav1.CreateOptions{FieldManager: person}); err != nil {
				e.Fatalf("create %s: %v", e.ref(u.GetKind(), u.GetName()), err)
			}
		}
	}
}

func (e *env) decode(manifest any) []*unstructured.Unstructured {
	e.Helper()
	var objects []*unstructured.Unstructured
	switch m := manifest.(type) {
	case string:
		for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(m), 4<<10); ; {
			u := &unstructured.Unstructured{}
			err := decoder.Decode(&u.Object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				e.Fatalf("read manifest: %v\n%s", err, m)
			}
			if len(u.Object) > 0 {
				objects = append(objects, u)
			}
		}
	case child.Object:
		objects = append(objects, e.unstructured(m))
	default:
		e.Fatalf("a %T is neither YAML nor an object", manifest)
	}
	for _, u := range objects {
		if u.GetNamespace() == "" && e.namespaced(u.GroupVersionKind()) {
			u.SetNamespace(e.namespace)
		}
		if u.GetKind() == v1.ApplicationKind && !slices.Contains(e.mine, u.GetName()) {
			e.mine = append(e.mine, u.GetName())
		}
	}
	return objects
}

func (e *env) unstructured(o child.Object) *unstructured.Unstructured {
	e.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		e.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(e.kindOf(o))
	return u
}

// kindOf finds the kind of a Go type.
func (e *env) kindOf(o runtime.Object) schema.GroupVersionKind {
	e.Helper()
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u.GroupVersionKind()
	}
	kinds, _, err := scheme.ObjectKinds(o)
	if err != nil {
		e.Fatal(err)
	}
	return kinds[0]
}

// resource is the API of a kind in the namespace of the test, or of the cluster.
func (e *env) resource(kind schema.GroupVersionKind) dynamic.ResourceInterface {
	e.Helper()
	mapping := e.mapping(kind)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return e.dynamic.Resource(mapping.Resource).Namespace(e.namespace)
	}
	return e.dynamic.Resource(mapping.Resource)
}

func (e *env) namespaced(kind schema.GroupVersionKind) bool {
	e.Helper()
	return e.mapping(kind).Scope.Name() == meta.RESTScopeNameNamespace
}

func (e *env) mapping(kind schema.GroupVersionKind) *meta.RESTMapping {
	e.Helper()
	var mapping *meta.RESTMapping
	// The API server serves a new kind a moment before it lists it.
	e.eventually("the API server lists "+kind.Kind, func() (bool, string) {
		found, err := e.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			e.mapper.Reset()
			return false, err.Error()
		}
		mapping = found
		return true, ""
	})
	return mapping
}

// children is the API of a kind of child in the namespace of the test.
func (e *env) children(kind child.Kind) dynamic.ResourceInterface {
	return e.dynamic.Resource(kind.GroupVersionResource()).Namespace(e.namespace)
}

// find reads an object, or returns nil if there is none.
//
//	deployment := find[appsv1.Deployment](e, "web")
func find[T any, P object[T]](e *env, name string) P {
	e.Helper()
	var o P = new(T)
	live, err := e.resource(e.kindOf(o)).Get(e.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, o)
	}
	if err != nil {
		e.Fatalf("get %s: %v", e.ref(e.kindOf(o).Kind, name), err)
	}
	return o
}

// get reads an object that must be there.
func get[T any, P object[T]](e *env, name string) P {
	e.Helper()
	o := find[T, P](e, name)
	if o == nil {
		e.Fatalf("%s does not exist", e.ref(e.kindOf(P(new(T))).Kind, name))
	}
	return o
}

// edit changes an object as kubectl edit does: with an update under another field manager. It
// retries if another client was faster.
//
//	edit(e, "web", func(d *appsv1.Deployment) { d.Spec.Paused = true })
func edit[T any, P object[T]](e *env, name string, change func(P)) {
	e.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o := get[T, P](e, name)
		change(o)
		u := e.unstructured(o)
		_, err := e.resource(u.GroupVersionKind()).Update(e.Context(), u, metav1.UpdateOptions{FieldManager: person})
		return err
	})
	if err != nil {
		e.Fatalf("edit %s: %v", e.ref(e.kindOf(P(new(T))).Kind, name), err)
	}
}

// editSpec changes the spec of an Application.
func (e *env) editSpec(name string, change func(*v1.ApplicationSpec)) {
	e.Helper()
	edit(e, name, func(application *v1.Application) { change(&application.Spec) })
}

// patch patches a child as kubectl patch does, and returns what has become of it.
func (e *env) patch(kind child.Kind, name string, patchType types.PatchType, body string, subresources ...string) *unstructured.Unstructured {
	e.Helper()
	patched, err := e.children(kind).Patch(e.Context(), name, patchType, []byte(body), metav1.PatchOptions{FieldManager: person}, subresources...)
	if err != nil {
		e.Fatalf("patch %s with %s: %v", e.ref(kind.Kind, name), body, err)
	}
	return patched
}

// deleteChild deletes a child.
func (e *env) deleteChild(kind child.Kind, name string) {
	e.Helper()
	if err := e.children(kind).Delete(e.Context(), name, metav1.DeleteOptions{}); err != nil {
		e.Fatalf("delete %s: %v", e.ref(kind.Kind, name), err)
	}
}

// remove deletes an object, as kubectl delete does by default: in the background.
func remove[T any, P object[T]](e *env, name string, options ...metav1.DeletionPropagation) {
	e.Helper()
	propagation := metav1.DeletePropagationBackground
	if len(options) > 0 {
		propagation = options[0]
	}
	kind := e.kindOf(P(new(T)))
	if err := e.resource(kind).Delete(context.WithoutCancel(e.Context()), name, metav1.DeleteOptions{PropagationPolicy: &propagation}); err != nil {
		e.Fatalf("delete %s: %v", e.ref(kind.Kind, name), err)
	}
}
