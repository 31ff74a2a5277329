// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Each kind decodes to what was encoded.
func TestEncode(t *testing.T) {
	deletion := metav1.Unix(1_800_000_000, 0)
	for _, kind := range child.Kinds() {
		t.Run(kind.Kind, func(t *testing.T) {
			object := emptyObject(t, kind)
			object.SetNamespace("shop")
			object.SetName("web")
			object.SetUID("uid-1")
			object.SetResourceVersion("7")
			object.SetGeneration(3)
			object.SetDeletionTimestamp(&deletion)
			object.SetLabels(map[string]string{v1.LabelApplication: "labelled", "team": "shop"})
			object.SetAnnotations(map[string]string{"note": "1"})
			object.SetOwnerReferences([]metav1.OwnerReference{
				*metav1.NewControllerRef(&v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "owner", UID: "uid-0"}}, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind)),
			})
			encoded, err := Encode(object)
			if err != nil {
				t.Fatal(err)
			}
			identity := metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-1", ResourceVersion: "7", DeletionTimestamp: &deletion}
			if diff := cmp.Diff(identity, encoded.ObjectMeta); diff != "" || encoded.Owner != "owner" || encoded.Label != "labelled" {
				t.Errorf("owner %q, label %q, identity (-want +got):\n%s", encoded.Owner, encoded.Label, diff)
			}
			got := emptyObject(t, kind)
			if err := encoded.decodeInto(got, kind); err != nil {
				t.Fatal(err)
			}
			object.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
			if diff := cmp.Diff(object, got); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

func emptyObject(t *testing.T, kind child.Kind) child.Object {
	t.Helper()
	created, err := scheme.Scheme.New(kind.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	object, ok := created.(child.Object)
	if !ok {
		t.Fatalf("%T is no object", created)
	}
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return object
}

// Types without protobuf, such as custom resources, are encoded as JSON.
func TestPackJSON(t *testing.T) {
	kind := child.Kind{Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things"}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(`{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"namespace": "shop", "name": "web"}, "spec": {"a": [1, "b"]}}`), object); err != nil {
		t.Fatal(err)
	}
	encoded, err := Encode(object)
	if err != nil {
		t.Fatal(err)
	}
	got := &unstructured.Unstructured{}
	if err := encoded.decodeInto(got, kind); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(object, got); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
	object.Object["spec"] = math.NaN()
	if _, err := Encode(object); err == nil {
		t.Error("a value that JSON does not have was encoded")
	}
	if err := encoded.decodeInto(emptyObject(t, child.Deployment), kind); err == nil {
		t.Error("JSON was decoded as protobuf")
	}
}
