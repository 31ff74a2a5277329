// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/pkg/child"
)

// TestHelmUpgradeAtEveryWrite lets Helm upgrade the release before each write of an adoption, and of the way back. Helm
// refuses, or the command notices; either way, running it again or taking it back ends well, and no upgrade is lost.
func TestHelmUpgradeAtEveryWrite(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	h, proxy := p.helm(), p.faultyProxy()
	h.install()
	h.wantImage(kube, "example.com/shop:1")
	adopt, abort, eject := []string{"adopt", "web", "--harden", "--from-helm"}, []string{"adopt", "web", "--abort"}, []string{"eject", "web", "--to-helm"}
	tag, upgraded := 1, 0
	proxy.disturb = func() {
		if err := h.upgrade(strconv.Itoa(tag + 1)); err == nil {
			tag++
			upgraded++
		}
	}
	everyWrite := func(args []string, prepare func(), end func(ended bool)) {
		t.Helper()
		for n := 1; ; n++ {
			prepare()
			r, write := proxy.run(p, disturbed, n, args...)
			if r.code != 0 {
				r = p.run(args...)
			}
			end(r.code == 0)
			h.wantImage(kube, "example.com/shop:"+strconv.Itoa(tag))
			if manifest := h.manifest(); !strings.Contains(manifest, "kind: Deployment") || !strings.Contains(manifest, "kind: Service\n") {
				t.Fatalf("after an upgrade before %q, the release does not have the objects:\n%s", write, manifest)
			}
			if write == "" {
				return
			}
		}
	}
	everyWrite(adopt, func() {}, func(bool) { p.want(0, abort) })
	if upgraded == 0 {
		t.Error("Helm never upgraded the release: the test disturbs nothing")
	}
	everyWrite(eject, func() { p.want(0, adopt) }, func(ended bool) {
		if !ended {
			p.want(0, eject)
		}
		if err := kube.CoreV1().ServiceAccounts(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	if err := h.upgrade("last"); err != nil {
		t.Errorf("helm upgrade: %v", err)
	}
}

// TestAbortAfterAnEdit lets another user edit the Deployment after the adoption has read it. The adoption ends, and taking it back
// leaves the edit alone.
func TestAbortAfterAnEdit(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	proxy := p.faultyProxy()
	if !p.forceApply("kubectl", child.Deployment, chartDeployment) || !p.forceApply("kubectl", child.Service, chartService) {
		t.Fatal("the manifests are refused")
	}
	p.deployment(kube)
	edited := strings.Replace(chartDeployment, "shop:1", "shop:2", 1)
	proxy.disturb = func() {
		if !p.forceApply("kubectl", child.Deployment, edited) {
			t.Error("the edit is refused")
		}
	}
	r, write := proxy.run(p, disturbed, 2, "adopt", "web", "--harden", "--accept=.spec.containers[web].tty")
	if !strings.HasSuffix(write, "/secrets") || !strings.Contains(r.stderr, "run the command again") {
		t.Fatalf("edited before %q, it ends with %q", write, r.stderr)
	}
	p.want(0, []string{"adopt", "web", "--abort"}, "the Application is deleted, and the adoption is taken back; no pod was replaced")
	if image := p.deployment(kube).Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(image, "shop:2") {
		t.Errorf("the Deployment has the image %s", image)
	}
	if _, err := kube.CoreV1().Secrets(p.namespace).Get(t.Context(), "web-before-adoption", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the backup is left: %v", err)
	}
	p.want(0, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"})
}

// forceApply applies a manifest as a GitOps tool does. A conflict is one of versions: the tool applies again in its next round.
func (p *plugin) forceApply(manager string, kind child.Kind, text string) (applied bool) {
	p.Helper()
	manifest := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &manifest.Object); err != nil {
		p.Error(err)
		return false
	}
	manifest.SetGroupVersionKind(kind.GroupVersionResource().GroupVersion().WithKind(kind.Kind))
	_, err := dynamic.NewForConfigOrDie(p.cluster.Config()).Resource(kind.GroupVersionResource()).Namespace(p.namespace).
		Apply(p.Context(), "web", manifest, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return err == nil
}

// TestForceApplyAtEveryWrite lets a GitOps tool apply its manifests by force before each write: of an adoption, its end, and
// the way back. No pod is replaced, and in the end the objects are those of the manifests.
func TestForceApplyAtEveryWrite(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	proxy := p.faultyProxy()
	var applied int
	proxy.disturb = func() {
		for text, kind := range map[string]child.Kind{chartDeployment: child.Deployment, chartService: child.Service} {
			if p.forceApply("gitops", kind, text) {
				applied++
			}
		}
	}
	proxy.disturb()
	p.eventually("the pods of the manifest", func() bool {
		live := p.deployment(kube)
		return live.Status.AvailableReplicas == 2 && live.Status.UpdatedReplicas == 2
	})
	before, pods := p.deployment(kube), p.pods(kube)
	adopt := []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}
	run := func(args ...string) {
		t.Helper()
		already := applied
		if r := proxy.runDisturbed(p, args...); r.code != 0 {
			if args[0] == "adopt" && !strings.Contains(r.stderr, "another client took the consent, or Fairlead's labels, off the Deployment") {
				t.Errorf("%q, disturbed, ends with %q", args, r.stderr)
			}
			p.want(0, args)
		}
		if applied == already {
			t.Errorf("%q was not disturbed", args)
		}
		if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
			t.Fatalf("%q replaced pods:\n%s", args, diff)
		}
	}
	wantBack := func() {
		t.Helper()
		proxy.disturb()
		p.eventually("the spec of the manifest", func() bool { return cmp.Equal(before.Spec, p.deployment(kube).Spec) })
		if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
			t.Fatalf("pods were replaced:\n%s", diff)
		}
	}
	run(adopt...)
	run("adopt", "web", "--abort")
	wantBack()
	run(adopt...)
	run("eject", "web", "--restore")
	wantBack()
}

// TestForceApplyAtEveryWriteToHelm lets a GitOps tool apply what the chart renders, by force, before each write of the way back to
// Helm, and before all of them. In the end the objects are the chart's, and the release has them.
func TestForceApplyAtEveryWriteToHelm(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	h, proxy := p.helm(), p.faultyProxy()
	h.install()
	h.wantImage(kube, "example.com/shop:1")
	before := p.deployment(kube)
	rendered := map[child.Kind]string{}
	for document := range strings.SplitSeq(h.manifest(), "---\n") {
		for _, kind := range []child.Kind{child.Deployment, child.Service} {
			if strings.Contains(document, "\nkind: "+kind.Kind+"\n") {
				rendered[kind] = document
			}
		}
	}
	var applied int
	proxy.disturb = func() {
		for kind, text := range rendered {
			if p.forceApply("gitops", kind, text) {
				applied++
			}
		}
	}
	adopt, eject := []string{"adopt", "web", "--harden", "--from-helm"}, []string{"eject", "web", "--to-helm"}
	for n, write := 0, "all"; write != ""; n++ {
		p.want(0, adopt)
		var r result
		if n == 0 {
			r = proxy.runDisturbed(p, eject...)
		} else {
			r, write = proxy.run(p, disturbed, n, eject...)
		}
		if r.code != 0 {
			t.Logf("disturbed before %s, it ends with %s", write, r.stderr)
			p.want(0, eject)
		}
		h.wantImage(kube, "example.com/shop:1")
		if diff := cmp.Diff(before.Spec, p.deployment(kube).Spec); diff != "" {
			t.Fatalf("disturbed before %s, the spec is not what it was (-before +after):\n%s", write, diff)
		}
		if manifest := h.manifest(); !strings.Contains(manifest, "kind: Deployment") || !strings.Contains(manifest, "kind: Service\n") {
			t.Fatalf("disturbed before %s, the release does not have the objects:\n%s", write, manifest)
		}
		if _, err := kube.CoreV1().Secrets(p.namespace).Get(t.Context(), "web-before-adoption", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Fatalf("disturbed before %s, the backup is left: %v", write, err)
		}
		if err := kube.CoreV1().ServiceAccounts(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if applied == 0 {
		t.Error("the tool never applied anything: the test disturbs nothing")
	}
}
