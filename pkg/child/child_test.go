// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

func configMap(data string) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap("web-config", "shop").WithData(map[string]string{"a": data})
}

func desired(t *testing.T, applyConfiguration any) child.Desired {
	t.Helper()
	d, err := child.NewDesired(child.ConfigMap, applyConfiguration)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNewDesired(t *testing.T) {
	d := desired(t, configMap("1").WithAnnotations(map[string]string{"team": "shop"}))
	if want := (child.Ref{Kind: child.ConfigMap, Namespace: "shop", Name: "web-config"}); d.Ref != want {
		t.Errorf("ref is %v, want %v", d.Ref, want)
	}
	if !regexp.MustCompile(`^[0-9a-f]{20}$`).MatchString(d.Hash) {
		t.Errorf("hash is %q, want 20 hex digits", d.Hash)
	}
	want := map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata": map[string]any{
			"name":        "web-config",
			"namespace":   "shop",
			"annotations": map[string]any{"team": "shop", v1.AnnotationRenderedHash: d.Hash},
		},
		"data": map[string]any{"a": "1"},
	}
	object, err := d.Object()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, object.Object); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

func TestHash(t *testing.T) {
	base := desired(t, configMap("1")).Hash
	if again := desired(t, configMap("1")).Hash; again != base {
		t.Errorf("the same fields have the hashes %s and %s", base, again)
	}
	for name, other := range map[string]*corev1ac.ConfigMapApplyConfiguration{
		"a value":       configMap("2"),
		"another field": configMap("1").WithImmutable(false),
		"metadata":      configMap("1").WithLabels(map[string]string{"a": "b"}),
		"the name":      corev1ac.ConfigMap("other", "shop").WithData(map[string]string{"a": "1"}),
	} {
		if hash := desired(t, other).Hash; hash == base {
			t.Errorf("a change of %s leaves the hash at %s", name, base)
		}
	}
}

func TestNewDesiredRefusesWhatIsNoObject(t *testing.T) {
	for name, configuration := range map[string]any{
		"no JSON":                make(chan int),
		"no object":              []string{"a"},
		"no apply configuration": map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}},
		"no kind":                &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}},
		"another kind":           corev1ac.Secret("a", "shop"),
		"no name":                corev1ac.ConfigMap("", "shop"),
	} {
		if _, err := child.NewDesired(child.ConfigMap, configuration); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The table of kinds must agree with the scheme, and a Kind must be found by its URL.
func TestKinds(t *testing.T) {
	seen := map[child.Kind]bool{}
	for _, kind := range child.Kinds() {
		if seen[kind] {
			t.Errorf("%s is listed twice", kind)
		}
		seen[kind] = true
		if !scheme.Scheme.Recognizes(kind.GroupVersionKind()) {
			t.Errorf("the scheme does not know %s", kind.GroupVersionKind())
			continue
		}
		object, err := scheme.Scheme.New(kind.GroupVersionKind())
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := object.(child.Object); !ok {
			t.Errorf("%T is no child.Object", object)
		}
		if resource := kind.GroupVersionResource(); resource.GroupVersion() != kind.GroupVersionKind().GroupVersion() || resource.Resource == "" {
			t.Errorf("the resource of %s is %s", kind, resource)
		}
	}
}

func TestRefString(t *testing.T) {
	ref := child.Ref{Kind: child.HorizontalPodAutoscaler, Namespace: "shop", Name: "web"}
	if got, want := ref.String(), "HorizontalPodAutoscaler shop/web"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGet(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	snapshot := child.Snapshot{
		Application: &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
		Children: map[child.Ref]child.Object{
			{Kind: child.Deployment, Namespace: "shop", Name: "web"}: deployment,
		},
	}
	if got := child.Get[*appsv1.Deployment](snapshot, child.Deployment, "web"); got != deployment {
		t.Errorf("got %v, want the Deployment", got)
	}
	if got := child.Get[*appsv1.Deployment](snapshot, child.Deployment, "other"); got != nil {
		t.Errorf("got %v for a name that nobody has", got)
	}
	if got := child.Get[*corev1.Service](snapshot, child.Service, "web"); got != nil {
		t.Errorf("got %v for a kind that is not there", got)
	}
	if got := child.Get[*corev1.Service](snapshot, child.Deployment, "web"); got != nil {
		t.Errorf("got %v for the wrong type", got)
	}
}

func TestOwnedBy(t *testing.T) {
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-1"}}
	reference := metav1.OwnerReference{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind, Name: "web", UID: "uid-1", Controller: new(true)}
	for _, test := range []struct {
		name   string
		change func(*metav1.OwnerReference)
		want   bool
	}{
		{"controller by UID", func(*metav1.OwnerReference) {}, true},
		{"another name, same UID", func(r *metav1.OwnerReference) { r.Name = "old-name" }, true},
		{"same name, another UID", func(r *metav1.OwnerReference) { r.UID = "uid-2" }, false},
		{"owner, but not controller", func(r *metav1.OwnerReference) { r.Controller = nil }, false},
		{"controller false", func(r *metav1.OwnerReference) { r.Controller = new(false) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			owner := reference
			test.change(&owner)
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owner}}}
			if got := child.OwnedBy(object, application); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
	if child.OwnedBy(&corev1.ConfigMap{}, application) {
		t.Error("an object without ownerReferences is owned")
	}
	if child.OwnedBy(&corev1.ConfigMap{}, &v1.Application{}) {
		t.Error("an object without ownerReferences is owned by an Application without a UID")
	}
}

// With deletionPolicy Orphan an annotation has the UID. It proves nothing on an object with a controller.
func TestOwnedByAnnotation(t *testing.T) {
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-1"}}
	controller := metav1.OwnerReference{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind, Name: "other", UID: "uid-2", Controller: new(true)}
	owner := controller
	owner.Controller = nil
	for _, test := range []struct {
		name        string
		uid         string
		owners      []metav1.OwnerReference
		application types.UID
		want        bool
	}{
		{"its UID", "uid-1", nil, "uid-1", true},
		{"that of an Application of the same name before", "uid-0", nil, "uid-1", false},
		{"no UID", "", nil, "uid-1", false},
		{"an Application without a UID", "", nil, "", false},
		{"a controller that is another", "uid-1", []metav1.OwnerReference{controller}, "uid-1", false},
		{"an owner that is no controller", "uid-1", []metav1.OwnerReference{owner}, "uid-1", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := application.DeepCopy()
			application.UID = test.application
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				OwnerReferences: test.owners, Annotations: map[string]string{v1.AnnotationOwnerUID: test.uid},
			}}
			if got := child.OwnedBy(object, application); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
			if child.Collectable(object, application) {
				t.Error("the garbage collector would delete it with the Application")
			}
		})
	}
}
