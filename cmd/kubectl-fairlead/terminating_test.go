// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// TestEditWhileDeploymentTerminates: a finalizer of another client holds a Deployment that was deleted.
func TestEditWhileDeploymentTerminates(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	deployments := kubernetes.NewForConfigOrDie(p.cluster.Config()).AppsV1().Deployments(p.namespace)
	finalize := func(finalizers string) *appsv1.Deployment {
		t.Helper()
		live, err := deployments.Patch(p.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return live
	}
	uid := finalize(`["example.com/hold"]`).UID
	if err := deployments.Delete(p.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = "  The Deployment is being deleted, and waits for its finalizers: example.com/hold. The edit has no effect before it is gone. Then Fairlead creates it again.\n"
	for _, args := range [][]string{{"restart", "web"}, {"set", "image", "web", "example.com/web:2"}, {"scale", "web", "--replicas=3"}} {
		p.want(0, args, want)
	}
	finalize("null")
	p.eventually("another Deployment", func() bool {
		live, err := deployments.Get(p.Context(), "web", metav1.GetOptions{})
		return err == nil && live.UID != uid && *live.Spec.Replicas == 3
	})
}
