// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// fat is the metadata of an object as the API server sends it.
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

func TestTrimChild(t *testing.T) {
	for _, kind := range child.Kinds() {
		t.Run(kind.Kind, func(t *testing.T) {
			created, err := scheme.Scheme.New(kind.GroupVersionKind())
			if err != nil {
				t.Fatal(err)
			}
			object := created.(child.Object)
			meta := fat()
			object.SetNamespace(meta.Namespace)
			object.SetName(meta.Name)
			object.SetUID(meta.UID)
			object.SetResourceVersion(meta.ResourceVersion)
			object.SetLabels(meta.Labels)
			object.SetAnnotations(meta.Annotations)
			object.SetManagedFields(meta.ManagedFields)
			if !apply.CreatedByPost(object) {
				t.Fatal("the object is not created by a POST even before it is trimmed")
			}
			// Decoding strips apiVersion and kind; structured merge finds the schema by them.
			object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})

			if got := trimTwice(t, trimChild, object); got != any(object) {
				t.Errorf("it became another object: %v", got)
			}
			if got := object.GetObjectKind().GroupVersionKind(); got != kind.GroupVersionKind() {
				t.Errorf("its kind is %s", got)
			}
			want := trimmed()
			if diff := cmp.Diff(want.ManagedFields, object.GetManagedFields()); diff != "" {
				t.Errorf("managed fields (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Annotations, object.GetAnnotations()); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Labels, object.GetLabels()); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if !apply.CreatedByPost(object) {
				t.Error("it is forgotten that the object was created by a POST")
			}
		})
	}
}

func TestTrimChildWithoutExtras(t *testing.T) {
	bare := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Data: map[string]string{"a": "1"}}
	want := bare.DeepCopy()
	want.SetGroupVersionKind(child.ConfigMap.GroupVersionKind())
	trimTwice(t, trimChild, bare)
	if diff := cmp.Diff(want, bare); diff != "" {
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

// A tombstone is not the object; what it holds was trimmed when it entered the cache.
func TestTombstonesAreLeftAlone(t *testing.T) {
	for name, trim := range map[string]cache.TransformFunc{"child": trimChild, "Application": trimApplication} {
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

// What the scheme does not know has come to the wrong informer.
func TestTrimChildRefusesUnknownKinds(t *testing.T) {
	if _, err := trimChild(&v1.Application{ObjectMeta: fat()}); err == nil {
		t.Error("no error")
	}
}
