// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var kustomizations = schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}

const (
	// kustomization is that of docs/guides/gitops.md, which is tried again rarely: each reconciliation here is asked for.
	kustomization = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec:
  interval: 10h
  path: ./shop
  prune: true
  wait: true
  timeout: 15m
  sourceRef: {kind: ExternalArtifact, name: apps}
`
	// inGit is the Application in Git, with an image to fill in. Replicas are left to people, as the guide says.
	inGit = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web, namespace: shop}
spec:
  image: %s
  ports: [{name: http, containerPort: 8080}]
  env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}]
  progressDeadlineSeconds: 5
  rollback: {policy: OnFailure}
`
)

// TestKustomizeController lets Flux apply an Application and wait for it: until it has what it needs, after a rollout that
// fails and is rolled back, and after the commit that corrects it.
func TestKustomizeController(t *testing.T) {
	l := newLab(t)
	const name = "kustomize-controller"
	crds := filepath.Join(l.moduleDir(name, "github.com/fluxcd/"+name), "config", "crd", "bases")
	f := newFlux(l, name, crds, kustomizations, team)

	// Not ready: the Secret is missing.
	f.commit("main@sha1:1", goodImage)
	l.apply(kustomization)
	l.waitCondition("web", "Ready", "False", "ConfigMissing")
	f.waitFlux("Healthy", "Unknown", "Progressing", "Running health checks")
	f.waitFlux("Ready", "Unknown", "Progressing", "")
	l.apply(fluxSecret)
	f.waitFlux("Ready", "True", "ReconciliationSucceeded", "main@sha1:1")
	l.wantReady("web", metav1.ConditionTrue)
	if class, _, _ := unstructured.NestedString(l.application(t.Context(), "web").Object, "spec", "className"); class != "standard" {
		t.Errorf("the webhook wrote the class %q", class)
	}
	f.wantNoWrites("ready")

	// A person scales, which Git leaves open.
	_, err := l.objects.Resource(applications).Namespace(team).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`),
		metav1.PatchOptions{FieldManager: "kubectl"}, "scale")
	if err != nil {
		t.Fatal(err)
	}
	l.waitReady("web")
	f.wantNoWrites("scaled by a person")
	if replicas, _, _ := unstructured.NestedInt64(l.deployment("web").Object, "spec", "replicas"); replicas != 3 {
		t.Errorf("after a reconciliation there are %d replicas, want the 3 that a person asked for", replicas)
	}

	// A rollout fails, and is rolled back.
	f.commit("main@sha1:2", badImage)
	l.waitCondition("web", "RolledBack", "True", "RolledBack")
	f.waitFlux("Ready", "False", "HealthCheckFailed", "Application/shop/web")
	l.wantImage("web", goodImage)
	f.wantNoWrites("rolled back")
	l.waitCondition("web", "RolledBack", "True", "RolledBack")
	l.wantImage("web", goodImage)
	f.waitFlux("Ready", "False", "HealthCheckFailed", "Application/shop/web")

	// The next commit corrects it.
	const corrected = "registry.example.com/web:3"
	f.commit("main@sha1:3", corrected)
	f.waitFlux("Ready", "True", "ReconciliationSucceeded", "main@sha1:3")
	l.wantReady("web", metav1.ConditionTrue)
	l.wantImage("web", corrected)
	f.wantNoWrites("corrected")

	// The file is deleted in Git.
	f.offer("main@sha1:4", map[string]string{"shop/db.yaml": fluxSecret})
	f.waitFlux("Ready", "True", "ReconciliationSucceeded", "main@sha1:4")
	l.eventually("the Application and its Deployment are gone", func(ctx context.Context) (bool, string) {
		left, err := l.objects.Resource(deployments).Namespace(team).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return l.application(ctx, "web") == nil && len(left.Items) == 0, fmt.Sprintf("%d Deployments", len(left.Items))
	})
}

// commit changes the image in Git.
func (f *flux) commit(revision, image string) {
	f.Helper()
	f.offer(revision, map[string]string{"shop/web.yaml": fmt.Sprintf(inGit, image)})
}
