// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	// maxPrefix leaves room in a name of at most 63 characters for the suffix that the API server adds.
	maxPrefix = 50
	// cleanupTimeout bounds a request made after the test's own context has ended.
	cleanupTimeout = 10 * time.Second
)

// Namespace creates a namespace for one test, named after it, and returns the name. If the cluster has a controller
// manager, it returns when the default service account exists, so that pods can be created. The end of the test
// deletes the namespace, without waiting until it is gone.
func (cp *ControlPlane) Namespace(tb testing.TB) string {
	tb.Helper()
	client, err := kubernetes.NewForConfig(cp.Config())
	if err != nil {
		tb.Fatal(err)
	}
	namespace, err := client.CoreV1().Namespaces().Create(tb.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: namespacePrefix(tb.Name())},
	}, metav1.CreateOptions{})
	if err != nil {
		tb.Fatalf("create a namespace for the test: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), cleanupTimeout)
		defer cancel()
		err := client.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			tb.Errorf("delete namespace %s of the test: %v", namespace.Name, err)
		}
	})
	if cp.runs(KubeControllerManager) {
		waitServiceAccount(tb, client, namespace.Name)
	}
	return namespace.Name
}

// runs reports whether the cluster has the component.
func (cp *ControlPlane) runs(component Component) bool {
	for _, status := range cp.process.info.Components {
		if status.Name == component {
			return true
		}
	}
	return false
}

func waitServiceAccount(tb testing.TB, client kubernetes.Interface, namespace string) {
	tb.Helper()
	err := wait.PollUntilContextCancel(tb.Context(), readyPeriod, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		tb.Fatalf("wait for the default service account of namespace %s: %v", namespace, err)
	}
}

// namespacePrefix turns TestThing/with_a_case into thing-with-a-case-.
func namespacePrefix(test string) string {
	name := strings.ToLower(strings.TrimPrefix(test, "Test"))
	name = regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(name, "-")
	name = strings.Trim(name[:min(len(name), maxPrefix)], "-")
	if name == "" {
		name = "test"
	}
	return name + "-"
}
