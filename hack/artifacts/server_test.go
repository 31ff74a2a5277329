// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// otherOperators are those whose objects the overlays have: the modules with their definitions, and what go.sum would say
// of these. They are no requirements, since they require a framework.
var otherOperators = []struct {
	module, sum string
	definitions []string
}{
	{"github.com/prometheus-operator/prometheus-operator@v0.93.1", "h1:4Juk8v93RdG1DSGD/mGp+SeQKPmnlLIj2iq3blLZgFY=", []string{
		"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
		"example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
	}},
	{"github.com/cert-manager/cert-manager@v1.19.1", "h1:Txh8L/nLWTDcb7ZnXuXbTe15BxQnLbLirXmbNk0fGgY=", []string{
		"deploy/crds/cert-manager.io_certificates.yaml",
		"deploy/crds/cert-manager.io_issuers.yaml",
	}},
}

// TestServerAccepts has the real API server check every object of every overlay, with the component aggregated-api and without it, those of other operators included:
// unknown fields, validation, defaulting and admission, without storing it.
func TestServerAccepts(t *testing.T) {
	cp := shared.Get(t)
	for _, operator := range otherOperators {
		cp.InstallCRDs(t, controlplane.DefinitionsOf(t, operator.module, operator.sum, operator.definitions...))
	}
	a := newApplier(t, cp)
	createNamespaces(t, kubernetes.NewForConfigOrDie(cp.Config()))
	for _, variant := range variants(t) {
		t.Run(variant, func(t *testing.T) {
			objects := parse(t, build(t, variant))
			if len(objects) == 0 {
				t.Error("nothing was checked")
			}
			for _, object := range objects {
				if err := a.apply(t, object, metav1.DryRunAll); err != nil {
					t.Errorf("%s: %v", name(object), err)
				}
			}
		})
	}
}

// applier applies any object, as kubectl apply --server-side does.
type applier struct {
	client dynamic.Interface
	mapper meta.ResettableRESTMapper
}

func newApplier(t *testing.T, cp *controlplane.ControlPlane) *applier {
	t.Helper()
	served, err := discovery.NewDiscoveryClientForConfig(cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &applier{
		client: dynamic.NewForConfigOrDie(cp.Config()),
		mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served)),
	}
}

func (a *applier) apply(t *testing.T, object *unstructured.Unstructured, dryRun ...string) error {
	t.Helper()
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var resource dynamic.ResourceInterface = a.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		resource = a.client.Resource(mapping.Resource).Namespace(object.GetNamespace())
	}
	_, err = resource.Patch(t.Context(), object.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		DryRun: dryRun, FieldManager: "test", FieldValidation: metav1.FieldValidationStrict,
	})
	return err
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
