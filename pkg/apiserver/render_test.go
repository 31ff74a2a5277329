// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	kubefake "k8s.io/client-go/kubernetes/fake"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// TestRendersPerUser: the renderings of one user are limited, and a user without the permission does not take the place of another.
func TestRendersPerUser(t *testing.T) {
	history := newHistory(time.Now())
	history.markFilled()
	registry := &renderer{history: history, access: permissions(allowed).access(), renders: newQuota("renders", 1, 1)}
	registry.live = &liveReader{access: registry.access}
	release, err := registry.renders.acquire("reader")
	if err != nil {
		t.Fatal(err)
	}
	create := func() error {
		_, err := registry.Create(asReader(t.Context()), "cart", &v1alpha1.RenderOptions{}, nil, &metav1.CreateOptions{})
		return err
	}
	if err := create(); !apierrors.IsTooManyRequests(err) {
		t.Errorf("second rendering: %v, want 429", err)
	}
	release()
	if registry.posted, err = newPostedSpecs(); err != nil {
		t.Fatal(err)
	}
	if err := create(); !apierrors.IsBadRequest(err) {
		t.Errorf("after the first has ended: %v, want 400 for nothing", err)
	}
	if registry.renders.open != 0 {
		t.Errorf("%d renderings are open", registry.renders.open)
	}
	registry.live.access = permissions(func() (authorizer.Decision, error) { return authorizer.DecisionNoOpinion, nil }).access()
	if err := create(); !apierrors.IsForbidden(err) {
		t.Errorf("without permission: %v, want 403", err)
	}
}

// TestUnreadKinds: an optional kind that the user may not list matters only if the Application has or would have a child of it.
func TestUnreadKinds(t *testing.T) {
	forbidden := errors.New("forbidden")
	unread := unreadKinds{child.HTTPRoute: forbidden}
	route := child.Desired{Ref: child.Ref{Kind: child.HTTPRoute, Name: "cart"}}
	service := child.Desired{Ref: child.Ref{Kind: child.Service, Name: "cart"}}
	has := func(kind child.Kind) *v1.Application {
		return &v1.Application{Status: v1.ApplicationStatus{Resources: []v1.ResourceStatus{{Group: kind.Group, Kind: kind.Kind, Name: "cart"}}}}
	}
	for _, test := range []struct {
		name     string
		rendered child.Desired
		live     *v1.Application
		want     error
	}{
		{"neither", service, has(child.Service), nil},
		{"would have", route, has(child.Service), forbidden},
		{"has", service, has(child.HTTPRoute), forbidden},
	} {
		if err := unread.concern([]child.Desired{test.rendered}, test.live); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestLacksHTTPRoutes: a cluster that serves other resources of the Gateway API than HTTPRoutes has Ingresses.
func TestLacksHTTPRoutes(t *testing.T) {
	routed := &v1.Application{Spec: v1.ApplicationSpec{Routes: []v1.Route{{Name: "public"}}}}
	for _, test := range []struct {
		version, resource string
		lacks             bool
	}{
		{"gateway.networking.k8s.io/v1", "httproutes", false},
		{"gateway.networking.k8s.io/v1", "gateways", true},
		{"gateway.networking.k8s.io/v1beta1", "httproutes", true},
	} {
		kube := kubefake.NewClientset()
		kube.Resources = []*metav1.APIResourceList{{GroupVersion: test.version, APIResources: []metav1.APIResource{{Name: test.resource}}}}
		live := &liveReader{clients: Clients{Kubernetes: kube, Fairlead: fake.NewClientset()}}
		platform, err := live.platformOf(asReader(t.Context()), routed)
		if lacks := platform.Facts.WithoutHTTPRoutes; lacks != test.lacks || err != nil {
			t.Errorf("%s %s: %t, %v, want %t", test.version, test.resource, lacks, err, test.lacks)
		}
	}
}

// FuzzPostedSpecs: whatever a user posts, what is rendered has the authorized name, and nothing that only the API server or the
// controller writes; or the answer is 400 or 422.
func FuzzPostedSpecs(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"apiVersion":"apps.fairlead.dev/v1","kind":"Application","spec":{"image":"example.com/cart:1"}}`,
		`{"apiVersion":"apps.fairlead.dev/v1","kind":"Application","metadata":{"name":"other","namespace":"kube-system"},"spec":{"image":"a"}}`,
		`{"apiVersion":"apps.fairlead.dev/v1","kind":"Application","metadata":{"uid":"1","finalizers":["a/b"],"ownerReferences":[{"uid":"2"}]},"spec":{"image":"a"},"status":{"revision":{"current":9}}}`,
		`{"apiVersion":"apps.fairlead.dev/v1","kind":"Application","spec":{"image":"a","replicas":1e9}}`,
		"apiVersion: apps.fairlead.dev/v1\nkind: Application\nspec: {image: a, env: [{name: A, value: 1}]}",
	} {
		f.Add(seed)
	}
	posted, err := newPostedSpecs()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		application, err := posted.read(t.Context(), []byte(body), "shop", "cart")
		if err != nil {
			if !apierrors.IsBadRequest(err) && !apierrors.IsInvalid(err) {
				t.Errorf("%s: %v, want 400 or 422", body, err)
			}
			return
		}
		want := metav1.ObjectMeta{Namespace: "shop", Name: "cart", Labels: application.Labels, Annotations: application.Annotations}
		if !equality.Semantic.DeepEqual(application.ObjectMeta, want) || !equality.Semantic.DeepEqual(application.Status, v1.ApplicationStatus{}) {
			encoded, _ := json.Marshal(application)
			t.Errorf("%s becomes %s", body, encoded)
		}
	})
}
