// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/pkg/aggregation"
)

// TestOutage kills the server and deletes a namespace. It is not parallel, so it runs before the tests that are.
func TestOutage(t *testing.T) {
	f := startAlone(t)
	client := dynamic.NewForConfigOrDie(cluster.Config())
	shared.stop()
	// Custom resources do not depend on it.
	if _, err := f.fairlead.AppsV1().Applications(f.namespace).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("list of custom resources while the server is down: %v", err)
	}
	if err := f.kube.CoreV1().Namespaces().Delete(t.Context(), f.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	blocked := false
	f.eventually("the namespace goes although the server is down", func() error {
		namespace, err := f.kube.CoreV1().Namespaces().Get(t.Context(), f.namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, condition := range namespace.Status.Conditions {
			blocked = blocked || condition.Type == corev1.NamespaceDeletionDiscoveryFailure && condition.Status == corev1.ConditionTrue
		}
		return fmt.Errorf("its conditions are %+v", namespace.Status.Conditions)
	})
	t.Logf("until the APIService was removed, discovery blocked the deletion: %v", blocked)
	if _, err := client.Resource(aggregation.APIServices).Get(t.Context(), apiServiceName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the APIService of the server that is down: %v, want 404", err)
	}
	if err := shared.start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := waitAvailable(t.Context(), client); err != nil {
		t.Errorf("the APIService does not come back with the server: %v", err)
	}
}

// TestUnreachable lets the Service lead nowhere. The server still answers the controller, which asks it itself, but kube-apiserver
// does not reach it. It is not parallel, like TestOutage.
func TestUnreachable(t *testing.T) {
	f := startAlone(t)
	client := dynamic.NewForConfigOrDie(cluster.Config())
	leadTo := func(host string) {
		t.Helper()
		patch := []byte(`{"spec":{"externalName":"` + host + `"}}`)
		if _, err := f.kube.CoreV1().Services(serviceNamespace).Patch(t.Context(), service, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	leadTo("nowhere.invalid")
	f.eventually("the APIService is deleted", func() error {
		_, err := client.Resource(aggregation.APIServices).Get(t.Context(), apiServiceName, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("its get answers %v", err) //nolint:errorlint // It may be nil.
		}
		return nil
	})
	if err := f.kube.CoreV1().Namespaces().Delete(t.Context(), f.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.eventually("the namespace goes although kube-apiserver does not reach the server", func() error {
		namespace, err := f.kube.CoreV1().Namespaces().Get(t.Context(), f.namespace, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("namespace %+v, %v", namespace.Status, err) //nolint:errorlint // It may be nil.
		}
		return nil
	})
	leadTo("localhost")
	if err := waitAvailable(t.Context(), client); err != nil {
		t.Errorf("the APIService does not come back: %v", err)
	}
}

// TestUninstall deletes the server's role, as every way to uninstall the component does. The garbage collector then deletes
// the APIService, although no controller does. It is not parallel, like TestOutage.
func TestUninstall(t *testing.T) {
	f := &fixture{T: t, kube: kubernetes.NewForConfigOrDie(cluster.Config())}
	client := dynamic.NewForConfigOrDie(cluster.Config())
	roles := f.kube.RbacV1().ClusterRoles()
	role, err := roles.Get(t.Context(), serverRole, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := roles.Delete(t.Context(), serverRole, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.eventually("the APIService goes with the role", func() error {
		_, err := client.Resource(aggregation.APIServices).Get(t.Context(), apiServiceName, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("its get answers %v", err) //nolint:errorlint // It may be nil.
		}
		return nil
	})
	role.ResourceVersion, role.UID = "", ""
	if _, err := roles.Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := waitAvailable(t.Context(), client); err != nil {
		t.Errorf("the APIService does not come back with the installation: %v", err)
	}
}
