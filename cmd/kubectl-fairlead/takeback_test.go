// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// leaves creates an Application with two pods, and deletes it alone.
func (p *plugin) leaves(spec string) {
	p.Helper()
	p.create("web", spec)
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	if err := p.fairlead.AppsV1().Applications(p.namespace).Delete(p.Context(), "web", metav1.DeleteOptions{}); err != nil {
		p.Fatal(err)
	}
	p.eventually("the end of the Application", func() bool {
		_, err := p.fairlead.AppsV1().Applications(p.namespace).Get(p.Context(), "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// takes gives the objects to the Application, as docs/guides/take-back.md does.
func (p *plugin) takes(kube kubernetes.Interface, application *v1.Application) {
	p.Helper()
	patch := []byte(`{"metadata":{"annotations":{"` + v1.AnnotationOwnerUID + `":"` + string(application.UID) + `"}}}`)
	ctx, options := p.Context(), metav1.PatchOptions{}
	if _, err := kube.CoreV1().ServiceAccounts(p.namespace).Patch(ctx, "web", types.MergePatchType, patch, options); err != nil {
		p.Fatal(err)
	}
	if _, err := kube.PolicyV1().PodDisruptionBudgets(p.namespace).Patch(ctx, "web", types.MergePatchType, patch, options); err != nil {
		p.Fatal(err)
	}
	if _, err := kube.AppsV1().Deployments(p.namespace).Patch(ctx, "web", types.MergePatchType, patch, options); err != nil {
		p.Fatal(err)
	}
}

// TestTakeBackOfAnotherImage: the manifest has another image than the pods that an earlier Application left behind. While rollouts are
// paused, status says what runs, and to go back to that replaces no pod.
func TestTakeBackOfAnotherImage(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.leaves("{image: 'ghcr.io/acme/web:1', replicas: 2, deletionPolicy: Orphan}")
	pods := p.pods(kube)
	p.takes(kube, p.create("web", "{image: 'ghcr.io/acme/web:2', replicas: 2, paused: true}"))
	p.eventually("the pause", func() bool {
		status := p.get("web").Status
		return status.AvailableReplicas == 2 && status.UpdatedReplicas == 0 && p.deployment(kube).Spec.Template.Spec.Containers[0].Image == "ghcr.io/acme/web:2"
	})
	p.want(1, []string{"status", "web"}, "Image        ghcr.io/acme/web:1 runs; the spec says ghcr.io/acme/web:2\n")
	const none = "o pod is replaced, because all of them are of that revision already."
	for _, paused := range []string{"true", "false"} {
		file := []byte("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: 'ghcr.io/acme/web:1', replicas: 2, paused: " + paused + "}\n")
		if r := p.runIn(file, "diff", "-f", "-"); r.code != 1 || !strings.Contains(r.stdout, none) {
			t.Errorf("diff with paused: %s: %d\n%s%s", paused, r.code, r.stdout, r.stderr)
		}
	}
	other := []byte("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: 'ghcr.io/acme/web:3', replicas: 2, paused: false}\n")
	if r := p.runIn(other, "diff", "-f", "-"); !strings.Contains(r.stdout, "all 2 pods are replaced, because of containers[web].image.") {
		t.Errorf("diff of a third image:\n%s%s", r.stdout, r.stderr)
	}
	p.want(0, []string{"set", "image", "web", "ghcr.io/acme/web:1"}, "  N"+none)
	p.want(0, []string{"resume", "web"})
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "Image        ghcr.io/acme/web:1\n")
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}

// TestAdoptOfLeftover: the user has perhaps forgotten the earlier Application, so adopt says first that all of it can be taken back.
func TestAdoptOfLeftover(t *testing.T) {
	p := start(t)
	p.leaves("{image: 'ghcr.io/acme/web:1', replicas: 2, deletionPolicy: Orphan}")
	want := "error: there is no Application web in namespace " + p.namespace + ", so nothing to consent to: leave out --existing, and this command writes one\n"
	if r := p.want(2, []string{"adopt", "web", "--existing"}); r.stderr != want || r.stdout != "" {
		t.Errorf("--existing without an Application: %q and %q, want %q", r.stdout, r.stderr, want)
	}
	want = p.namespace + "/web: the Deployment was left behind by an earlier Application. If you have its manifest, rather take all of that back: see docs/guides/take-back.md\n"
	if r := p.run("adopt", "web", "--harden", "--dry-run=client"); !strings.HasPrefix(r.stdout, want) {
		t.Errorf("adopt says\n%s%s, want first %q", r.stdout, r.stderr, want)
	}
	p.create("web", "{image: 'ghcr.io/acme/web:2'}")
	want = "error: the Deployment web was left behind by an earlier Application: take it back into the Application web as docs/guides/take-back.md says\n"
	if r := p.want(2, []string{"adopt", "web", "--harden"}); r.stderr != want {
		t.Errorf("adopt into an Application without a consent: %q, want %q", r.stderr, want)
	}
}
