// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// httpRoutes is a cluster that has these HTTPRoutes.
func httpRoutes(objects ...runtime.Object) *dynamicfake.FakeDynamicClient {
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{child.HTTPRoute.GroupVersionResource(): "HTTPRouteList"}, objects...)
}

func httpRoute(namespace, name string, backend map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": map[string]any{"namespace": namespace, "name": name},
		"spec": map[string]any{"rules": []any{map[string]any{"filters": []any{}}, map[string]any{"backendRefs": []any{backend}}}},
	}}
}

func ingress(namespace, name string, spec networkingv1.IngressSpec) *networkingv1.Ingress {
	return &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
}

func backend(service string) networkingv1.IngressBackend {
	return networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service}}
}

func ruleTo(service string) networkingv1.IngressSpec {
	paths := &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Backend: backend(service)}}}
	return networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "a.example.com"}, {Host: "b.example.com", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: paths}}}}
}

// TestStayingNamesRoutes: what leads to the Service, or to another one that selects the pods, goes on to serve.
func TestStayingNamesRoutes(t *testing.T) {
	pods := map[string]string{"app": "shop"}
	service := func(name string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.ServiceSpec{Selector: pods}}
	}
	web := service("web")
	kube := func() *kubefake.Clientset {
		return kubefake.NewClientset(web, service("internal"),
			ingress("shop", "all", networkingv1.IngressSpec{DefaultBackend: new(backend("internal"))}), ingress("shop", "public", ruleTo("web")),
			ingress("shop", "else", ruleTo("cart")), ingress("other", "public", ruleTo("web")))
	}
	routes := func() *dynamicfake.FakeDynamicClient {
		return httpRoutes(httpRoute("shop", "web", map[string]any{"name": "web", "kind": "Service", "group": ""}), httpRoute("shop", "else", map[string]any{"name": "cart"}),
			httpRoute("shop", "abroad", map[string]any{"name": "web", "namespace": "other"}), httpRoute("shop", "bucket", map[string]any{"name": "web", "kind": "Bucket", "group": "example.com"}))
	}
	const guide = " in spec.routes of the Application instead, without a gap, see docs/guides/migrate.md."
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "any"}, "", nil)
	for name, test := range map[string]struct {
		service               *corev1.Service
		ingresses, httpRoutes error
		want, fails           string
	}{
		"all":                        {service: web, want: "Ingress all, Ingress public, HTTPRoute web lead to these pods, stay yours and go on to serve. To have them" + guide},
		"no Service of the name":     {want: "Ingress all leads to these pods, stays yours and goes on to serve. To have it" + guide},
		"may not list Ingresses":     {service: web, ingresses: forbidden, want: "HTTPRoute web leads to these pods, stays yours and goes on to serve. To have it" + guide},
		"may not list HTTPRoutes":    {service: web, httpRoutes: forbidden, want: "Ingress all, Ingress public lead to these pods, stay yours and go on to serve. To have them" + guide},
		"a cluster without the kind": {service: web, httpRoutes: apierrors.NewNotFound(schema.GroupResource{}, ""), want: "Ingress all, Ingress public lead to these pods, stay yours and go on to serve. To have them" + guide},
		"no answer about Ingresses":  {service: web, ingresses: errors.New("no answer"), fails: "find out which Ingresses lead to the pods: no answer"},
		"no answer about HTTPRoutes": {service: web, httpRoutes: errors.New("no answer"), fails: "find out which HTTPRoutes lead to the pods: no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			kube, dynamic := kube(), routes()
			kube.PrependReactor("list", "ingresses", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.ingresses != nil, nil, test.ingresses
			})
			dynamic.PrependReactor("list", "httproutes", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.httpRoutes != nil, nil, test.httpRoutes
			})
			deployment := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pods}}}}
			a := adopting{clients: &cluster.Clients{Kube: kube, Dynamic: dynamic}, namespace: "shop", name: "web", deployment: deployment, service: test.service}
			got, err := a.staying(t.Context(), &v1.Application{})
			if test.fails != "" {
				if err == nil || err.Error() != test.fails {
					t.Errorf("%v, want %s", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got[2]); diff != "" {
				t.Errorf("it says (-want +got):\n%s", diff)
			}
		})
	}
}
