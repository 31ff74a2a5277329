// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
)

// otherOperators are the groups that the embedded control plane does not serve. Of their objects only
// the alerts are tested, in rules.
var otherOperators = []string{"cert-manager.io", "monitoring.coreos.com"}

// TestServerAccepts has the real API server check every object of every overlay: unknown fields,
// validation, defaulting and admission, without storing it.
func TestServerAccepts(t *testing.T) {
	cp := shared.Get(t)
	client, err := dynamic.NewForConfig(cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	served, err := discovery.NewDiscoveryClientForConfig(cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served))
	createNamespaces(t, kubernetes.NewForConfigOrDie(cp.Config()))
	for _, overlay := range overlays(t) {
		t.Run(overlay, func(t *testing.T) {
			checked := 0
			for _, object := range rendered(t, overlay) {
				kind := object.GroupVersionKind()
				if slices.Contains(otherOperators, kind.Group) {
					t.Logf("%s: not checked here, since %s is not served", name(object), kind.Group)
					continue
				}
				mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
				if err != nil {
					t.Errorf("%s: %v", name(object), err)
					continue
				}
				data, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				var resource dynamic.ResourceInterface = client.Resource(mapping.Resource)
				if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
					resource = client.Resource(mapping.Resource).Namespace(object.GetNamespace())
				}
				_, err = resource.Patch(t.Context(), object.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
					DryRun: []string{metav1.DryRunAll}, FieldManager: "test", FieldValidation: metav1.FieldValidationStrict,
				})
				if err != nil {
					t.Errorf("%s: %v", name(object), err)
				}
				checked++
			}
			if checked == 0 {
				t.Error("nothing was checked")
			}
		})
	}
}

// createNamespaces makes those that a dry run of what is inside of them needs.
func createNamespaces(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	for _, namespace := range []string{operatorNamespace, metav1.NamespaceDefault} {
		_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}
