// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestNamespacedOverlayIsEnough runs the controller with what the namespaced overlay permits, and nothing else: it works
// in its namespace, and asks for nothing that is refused.
func TestNamespacedOverlayIsEnough(t *testing.T) {
	cp := shared.Get(t)
	cp.InstallCRDs(t, filepath.Join(root, "artifacts", "crds"))
	kube := kubernetes.NewForConfigOrDie(cp.Config())
	createNamespaces(t, kube)
	a := newApplier(t, cp)
	for _, object := range rendered(t, "namespaced") {
		if err := a.apply(t, object); err != nil {
			t.Fatalf("%s: %v", name(object), err)
		}
	}
	since := cp.AuditCursor(t)
	startController(t, "--kubeconfig="+kubeconfigOf(t, cp, kube, "fairlead-controller"),
		"--namespace="+metav1.NamespaceDefault, "--classes=false", "--leader-elect", "--operator-namespace="+operatorNamespace)

	err := a.apply(t, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(), "kind": v1.ApplicationKind,
		"metadata": map[string]any{"name": "web", "namespace": metav1.NamespaceDefault},
		"spec": map[string]any{
			"image": "registry.example.com/web:1", "replicas": int64(2), "deletionPolicy": string(v1.DeletionOrphan),
			"ports":         []any{map[string]any{"name": "http", "containerPort": int64(8080)}},
			"config":        map[string]any{"mountPath": "/etc/web", "data": map[string]any{"a": "b"}},
			"routes":        []any{map[string]any{"name": "public", "hostnames": []any{"web.example.com"}}},
			"networkPolicy": map[string]any{},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	applications := versioned.NewForConfigOrDie(cp.Config()).AppsV1().Applications(metav1.NamespaceDefault)
	const children = 8 // ServiceAccount, ConfigMap, Deployment and its revision, Service, budget, NetworkPolicy, Ingress.
	var seen []v1.ResourceStatus
	await(t, "the children are there", func(ctx context.Context) (bool, error) {
		application, err := applications.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		seen = application.Status.Resources
		synced := 0
		for _, resource := range seen {
			if resource.State == v1.ResourceSynced {
				synced++
			}
		}
		return synced == children, nil
	}, func() any { return seen })
	if err := applications.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the finalizer is taken off", func(ctx context.Context) (bool, error) {
		list, err := applications.List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 0, err
	}, func() any { return "it is there" })
	for _, event := range since.Events(t, controlplane.FromUserAgent("fairlead-controller/")) {
		if event.Code == http.StatusForbidden {
			t.Errorf("the overlay does not permit: %s", event)
		}
	}
}

func await(t *testing.T, what string, look wait.ConditionWithContextFunc, saw func() any) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, look); err != nil {
		t.Fatalf("%s: %v; last saw %v", what, err, saw())
	}
}

// kubeconfigOf writes a kubeconfig with a token of the ServiceAccount.
func kubeconfigOf(t *testing.T, cp *controlplane.ControlPlane, kube kubernetes.Interface, account string) string {
	t.Helper()
	request, err := kube.CoreV1().ServiceAccounts(operatorNamespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, file := clientcmdapi.NewConfig(), filepath.Join(t.TempDir(), "kubeconfig")
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: cp.Config().Host, CertificateAuthorityData: cp.Config().CAData, CertificateAuthority: cp.Config().CAFile}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}
