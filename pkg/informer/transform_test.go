// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// fat returns the metadata of an object as the API server sends it.
func fat() metav1.ObjectMeta {
	fields := metav1.NewFieldsV1(`{"f:data":{}}`)
	return metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: "uid-1", ResourceVersion: "7",
		Labels:      map[string]string{"team": "shop"},
		Annotations: map[string]string{"note": "1", corev1.LastAppliedConfigAnnotation: "{a long copy}"},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: fields},
			{Manager: apply.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: fields},
		},
	}
}

func trimmed() metav1.ObjectMeta {
	slim := fat()
	slim.Annotations = map[string]string{"note": "1"}
	slim.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: apply.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate}}
	return slim
}

// The reflector may trim an object more than once.
func trimTwice(t *testing.T, trim cache.TransformFunc, object any) any {
	t.Helper()
	for range 2 {
		again, err := trim(object)
		if err != nil {
			t.Fatal(err)
		}
		object = again
	}
	return object
}

// decoded encodes an object twice, and decodes it.
func decoded[T any, P interface {
	*T
	child.Object
}](t *testing.T, kind child.Kind, object P) P {
	t.Helper()
	p, ok := trimTwice(t, encodeChild, object).(*Encoded)
	if !ok {
		t.Fatal("it was not encoded")
	}
	again := P(new(T))
	if err := p.decodeInto(again, kind); err != nil {
		t.Fatal(err)
	}
	return again
}

func TestPackChild(t *testing.T) {
	object := &corev1.ConfigMap{ObjectMeta: fat(), Data: map[string]string{"a": "1"}}
	if !apply.CreatedByPost(object) {
		t.Fatal("the object is not created by a POST even before it is encoded")
	}
	want := object.DeepCopy()
	want.ObjectMeta = trimmed()
	// Decoding strips apiVersion and kind; structured merge finds the schema by them.
	want.SetGroupVersionKind(child.ConfigMap.GroupVersionKind())
	got := decoded(t, child.ConfigMap, object)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
	if !apply.CreatedByPost(got) {
		t.Error("it is forgotten that the object was created by a POST")
	}
}

func TestPackChildWithoutExtras(t *testing.T) {
	bare := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Data: map[string]string{"a": "1"}}
	want := bare.DeepCopy()
	want.SetGroupVersionKind(child.ConfigMap.GroupVersionKind())
	if diff := cmp.Diff(want, decoded(t, child.ConfigMap, bare)); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

func TestTrimApplication(t *testing.T) {
	application := &v1.Application{ObjectMeta: fat(), Spec: v1.ApplicationSpec{Image: "web:1"}, Status: v1.ApplicationStatus{Image: "web:1"}}
	want := application.DeepCopy()
	want.ManagedFields = nil
	delete(want.Annotations, corev1.LastAppliedConfigAnnotation)
	if got := trimTwice(t, trimApplication, application); got != any(application) {
		t.Errorf("it became another object: %v", got)
	}
	if diff := cmp.Diff(want, application); diff != "" {
		t.Errorf("Application (-want +got):\n%s", diff)
	}
}

// A tombstone stays as it is: its object was trimmed when it entered the cache.
func TestTombstonesAreLeftAlone(t *testing.T) {
	for name, trim := range map[string]cache.TransformFunc{"child": encodeChild, "Application": trimApplication} {
		object := &corev1.ConfigMap{ObjectMeta: fat()}
		tombstone := cache.DeletedFinalStateUnknown{Key: "shop/web", Obj: object}
		got, err := trim(tombstone)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got != any(tombstone) || len(object.ManagedFields) != 2 {
			t.Errorf("%s: the tombstone became %v", name, got)
		}
	}
}

// TestTooLargeApplicationIsNotCached has an Application whose little JSON takes much memory. The cache keeps nothing
// of that, and has no claim to its host names.
func TestTooLargeApplicationIsNotCached(t *testing.T) {
	application := &v1.Application{ObjectMeta: fat(), Spec: v1.ApplicationSpec{
		Command: make([]string, 200_000), Routes: []v1.Route{{Name: "a", Hostnames: []string{"a.example.com"}}},
	}}
	got, ok := trimTwice(t, trimApplication, application).(*v1.Application)
	if !ok || got.UID != "uid-1" || got.FindExcess() == nil {
		t.Fatalf("got %v, want the Application, marked as too large", got)
	}
	if diff := cmp.Diff(v1.ApplicationSpec{}, got.Spec); diff != "" {
		t.Errorf("kept of the spec (-want +got):\n%s", diff)
	}
	if values := hostValues(got); len(values) > 0 {
		t.Errorf("indexed under %q; want nothing", values)
	}
}
