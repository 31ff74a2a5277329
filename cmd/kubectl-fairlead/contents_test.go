// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// TestResumeAfterContentChanged: a ConfigMap that changed while Fairlead did not follow it replaces the pods, and the plugin says so before.
// Of one that did not change it says nothing, and of a Secret what the controller or its version says.
func TestResumeAfterContentChanged(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	configMaps, secrets := kube.CoreV1().ConfigMaps(p.namespace), kube.CoreV1().Secrets(p.namespace)
	for _, name := range []string{"settings", "flags"} {
		data := map[string]string{"a": "1"}
		if _, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "db"}, StringData: map[string]string{"a": "1"}}
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	write := func(what, value string) {
		t.Helper()
		kind, name, _ := strings.Cut(what, " ")
		patch := []byte(`{"data":{"a":"` + value + `"}}`)
		var err error
		if kind == "ConfigMap" {
			_, err = configMaps.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		} else {
			_, err = secrets.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const image = "{image: example.com/web:1, replicas: 2, envFrom: "
	p.create("one", image+"[{configMapRef: {name: settings}}, {secretRef: {name: db}}]}")
	p.create("two", image+"[{configMapRef: {name: settings}}, {configMapRef: {name: flags}}]}")
	p.create("single", "{image: example.com/web:1, replicas: 1, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 25%}}, envFrom: [{configMapRef: {name: settings}}]}")
	p.eventually("the Deployment", func() bool { return p.get("single").Status.Replicas > 0 })
	const outage = "The strategy may leave no pod ready meanwhile, so that requests fail.\n"
	p.want(0, []string{"set", "image", "single", "example.com/web:2", "--dry-run=client"}, "because of containers[single].image. "+outage)
	for _, name := range []string{"one", "two", "single"} {
		p.want(0, []string{"status", name, "--watch", "--timeout=60s"})
		p.want(0, []string{"suspend", name})
	}
	resume := []string{"resume", "one", "--dry-run=client"}
	diffOf := func(name, rest string, output ...string) result {
		t.Helper()
		return p.runIn([]byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: "+name+"}, spec: {image: 'example.com/web:1', reconcilePolicy: Enforce"+rest+"}}"),
			append([]string{"diff", "-f", "-"}, output...)...)
	}
	diff := func(output ...string) result {
		t.Helper()
		return diffOf("one", "", output...)
	}
	p.want(0, resume, " → Enforce)\n  No pod is replaced.\n  not written")
	if r := diff(); r.code != 0 || r.stdout != p.namespace+"/one: nothing changes.\n" {
		t.Errorf("diff before a change: %+v", r)
	}

	write("Secret db", "Mg==")
	const ifSecret = "If Secret db has changed since the pods started, all pods are replaced."
	p.want(0, resume, "No pod is replaced. "+ifSecret+"\n")
	if r := diff(); r.code != 0 || r.stdout != p.namespace+"/one: nothing changes.\n    "+ifSecret+"\n" {
		t.Errorf("diff after the Secret changed: %+v", r)
	}
	if r := diff("-o", "json"); !strings.Contains(r.stdout, `"unknown": "`+ifSecret+`"`) {
		t.Errorf("diff as JSON: %+v", r)
	}

	write("ConfigMap settings", "2")
	p.want(0, resume, "  All 2 pods are replaced, because of the changed content of ConfigMap settings.\n  not written")
	p.want(0, []string{"resume", "two", "--dry-run=client"}, "  All 2 pods are replaced, because of the changed content of ConfigMap flags or settings.\n")
	p.want(0, []string{"resume", "single", "--dry-run=client"}, "  1 pod is replaced, because of the changed content of ConfigMap settings. "+outage)
	// The strategy of the edit counts, not the one that the Deployment has.
	for rest, want := range map[string]string{
		", strategy: {rollingUpdate: {maxSurge: 1}}": "/single: 1 pod is replaced, because of the changed content of ConfigMap settings.\n",
		", strategy: {type: Recreate, rollingUpdate: null}": "/single: 1 pod is replaced, because of the changed content of ConfigMap settings. " +
			"With strategy Recreate, requests fail meanwhile.\n",
	} {
		if r := diffOf("single", rest); r.code != 1 || !strings.Contains(r.stdout, want) {
			t.Errorf("diff with another strategy: %+v, want %q", r, want)
		}
	}
	const stops = "one: all 2 pods are replaced, because of the changed content of ConfigMap settings. " + outage
	if r := diffOf("one", ", strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 2}}"); !strings.Contains(r.stdout, stops) {
		t.Errorf("diff with a strategy that stops all: %+v, want %q", r, stops)
	}
	r := diff()
	for _, want := range []string{
		p.namespace + "/one: all 2 pods are replaced, because of the changed content of ConfigMap settings.\n\n~ Deployment/one  Update\n",
		"    .spec.template.metadata.annotations[apps.fairlead.dev/configmaps-hash]: \"",
	} {
		if r.code != 1 || !strings.Contains(r.stdout, want) {
			t.Errorf("diff after the ConfigMap changed: %+v, want %q", r, want)
		}
	}
	if r := diff("-o", "json"); !strings.Contains(r.stdout, `"contents": [`) || !strings.Contains(r.stdout, `"replaced": true`) {
		t.Errorf("diff as JSON: %+v", r)
	}

	// While it is observed, the controller says that the Secrets differ.
	p.want(0, []string{"observe", "one"})
	p.eventually("the difference", func() bool {
		status := p.get("one").Status
		return len(status.Resources) > 0 && strings.Contains(p.run("get", "one", "-o", "yaml").stdout, "apps.fairlead.dev/secrets-hash.")
	})
	p.want(0, resume, "  All 2 pods are replaced, because of the changed content of ConfigMap settings, the changed content of Secret db.\n")
	write("ConfigMap settings", "1")
	p.want(0, resume, "  All 2 pods are replaced, because of the changed content of Secret db.\n")

	if err := configMaps.Delete(t.Context(), "flags", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"resume", "two", "--dry-run=client"}, "No pod is replaced. ConfigMap flags does not exist; running pods stay as they are, and new ones that need it wait.\n")
	p.want(0, []string{"resume", "one"})
	p.want(0, []string{"status", "one", "--watch", "--timeout=60s"})
}
