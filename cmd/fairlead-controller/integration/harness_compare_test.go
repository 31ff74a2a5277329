// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/jsonpath"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// sub is the same environment for a subtest, so that a failure is the subtest's.
func (e *env) sub(t testing.TB) *env {
	copied := *e
	copied.TB = t
	copied.mine = nil
	return &copied
}

// named is a manifest of the Application web under another name, and a host name of its own.
func named(manifest, name string) string {
	return strings.NewReplacer("{name: web}", "{name: "+name+"}", "[web.example.com]", "["+name+".example.com]").Replace(manifest)
}

// live reads a child as it is, or returns nil if there is none.
func (e *env) live(kind child.Kind, name string) *unstructured.Unstructured {
	e.Helper()
	u, err := e.children(kind).Get(e.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		e.Fatalf("get %s: %v", e.ref(kind.Kind, name), err)
	}
	return u
}

// field returns the value at a JSONPath such as spec.ports[0].port, as kubectl prints it, or ""
// if there is none.
func (e *env) field(u *unstructured.Unstructured, path string) string {
	e.Helper()
	if u == nil {
		return ""
	}
	p := jsonpath.New(path).AllowMissingKeys(true)
	var b bytes.Buffer
	err := p.Parse("{." + path + "}")
	if err == nil {
		err = p.Execute(&b, u.Object)
	}
	if err != nil && !strings.Contains(err.Error(), "array index out of bounds") {
		e.Fatalf("read %s: %v", path, err)
	}
	return b.String()
}

// fields are expected values by JSONPath; "" means that there must be none.
type fields map[string]string

// differing returns how the object differs from what is expected, or "".
func (e *env) differing(u *unstructured.Unstructured, want fields) string {
	e.Helper()
	if u == nil {
		return "it does not exist"
	}
	got := fields{}
	for path := range want {
		got[path] = e.field(u, path)
	}
	return cmp.Diff(want, got)
}

// waitFields waits until a child is as expected.
func (e *env) waitFields(kind child.Kind, name string, want fields) {
	e.Helper()
	e.eventually(fmt.Sprintf("%s %s is as wanted (-want +got)", kind, name), func() (bool, string) {
		diff := e.differing(e.live(kind, name), want)
		return diff == "", diff
	})
}

// content is what matters of a child: without its identity, its history, what the cluster chose,
// and its status. The UID of its owner is replaced by "owner", if it is the one given.
func content(u *unstructured.Unstructured, owner types.UID) map[string]any {
	c := u.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "namespace"} {
		unstructured.RemoveNestedField(c.Object, "metadata", field)
	}
	references := c.GetOwnerReferences()
	for i := range references {
		if references[i].UID == owner {
			references[i].UID = "owner"
		}
	}
	c.SetOwnerReferences(references)
	annotations := c.GetAnnotations()
	delete(annotations, revisionAnnotation)
	// These are hashes over the owner's UID too.
	delete(annotations, v1.AnnotationRenderedHash)
	delete(annotations, v1.AnnotationRevision)
	// They tell of the past.
	delete(annotations, v1.AnnotationCreatedFieldSet)
	delete(annotations, v1.AnnotationFormerNumbers)
	delete(annotations, v1.AnnotationRolledBackBefore)
	delete(annotations, v1.AnnotationServicePorts)
	if len(annotations) == 0 {
		annotations = nil
	}
	c.SetAnnotations(annotations)
	delete(c.Object, "status")
	// An externalName is ignored, and stays, once the type is another again.
	for _, field := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort", "externalName"} {
		unstructured.RemoveNestedField(c.Object, "spec", field)
	}
	if ports, found, _ := unstructured.NestedSlice(c.Object, "spec", "ports"); found {
		for _, port := range ports {
			delete(port.(map[string]any), "nodePort")
		}
		_ = unstructured.SetNestedSlice(c.Object, ports, "spec", "ports")
	}
	return c.Object
}

// revisionAnnotation is the Deployment controller's.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// contents are the contents of all children of an Application, by kind and name. How it got there, its
// history, is not among them.
func (e *env) contents(application *v1.Application) map[string]any {
	e.Helper()
	all := map[string]any{}
	for _, kind := range namedKinds() {
		list, err := e.children(kind).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application.Name})
		if err != nil {
			e.Fatalf("list %s: %v", kind, err)
		}
		for i := range list.Items {
			all[kind.Kind+" "+list.Items[i].GetName()] = content(&list.Items[i], application.UID)
		}
	}
	return all
}

// pods counts the pods of the Application that are not being deleted.
func (e *env) pods(application string) int {
	e.Helper()
	list, err := e.kube.CoreV1().Pods(e.namespace).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application})
	if err != nil {
		e.Fatalf("list pods: %v", err)
	}
	count := 0
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			count++
		}
	}
	return count
}

// replicaSets returns the names of the ReplicaSets of the Application's Deployment.
func (e *env) replicaSets(application string) []string {
	e.Helper()
	list, err := e.kube.AppsV1().ReplicaSets(e.namespace).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application})
	if err != nil {
		e.Fatalf("list ReplicaSets: %v", err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// lower is the name of a kind as it may be part of an object's name.
func lower(kind child.Kind) string { return strings.ToLower(kind.Kind) }
