// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestAdoptTrustsNoTenant: a tenant with permission to write Applications and Secrets, but not Deployments, prepares them for a user's adoption.
// Neither an Application of that name nor a backup with other pods makes that user run them.
func TestAdoptTrustsNoTenant(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	_, pods := p.runs(kube)
	adopt := []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}

	p.create("web", `{image: example.com/evil:1, replicas: 2, adoptionPolicy: Consented, reconcilePolicy: Observe, paused: true, deletionPolicy: Orphan,
  ports: [{name: http, containerPort: 8080, servicePort: 80, servicePortName: ""}], podMetadata: {labels: {app: shop}}, disruptionBudget: {mode: Disabled},
  routes: [{name: public, hostnames: [`+p.namespace+`.example.com]}]}`)
	r := p.want(2, adopt, "the Application exists already, and differs from the one that this command would write:",
		`Deployment/web: .spec.template.spec.containers[web].image: "example.com/shop:1" → "example.com/evil:1"`, "Ingress/")
	if !strings.Contains(r.stderr, "nothing was written: pass --existing to consent to that Application as it is; or delete it") {
		t.Errorf("no advice in %q", r.stderr)
	}
	p.want(0, append(slices.Clone(adopt), "--existing", "--dry-run=client"), `  ~ .spec.containers[web].image: "example.com/shop:1" → "example.com/evil:1"`)
	if live := p.deployment(kube); live.Labels[v1.LabelApplication] != "" || live.Annotations[v1.AnnotationAdoptableBy] != "" {
		t.Errorf("the Deployment has the consent: %v, %v", live.Labels, live.Annotations)
	}
	if err := p.fairlead.AppsV1().Applications(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the end of the Application", func() bool {
		list, err := p.fairlead.AppsV1().Applications(p.namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 0
	})

	// One that the user wrote, and that is in conflict with the Deployment.
	p.create("web", `{image: example.com/shop:1, replicas: 2, adoptionPolicy: Consented, paused: true, deletionPolicy: Orphan, minReadySeconds: 1,
  ports: [{name: http, containerPort: 8080, servicePort: 80, servicePortName: ""}], podMetadata: {labels: {app: shop}}, disruptionBudget: {mode: Disabled}}`)
	p.want(2, adopt, "Deployment/web: .spec.minReadySeconds")
	p.want(2, []string{"adopt", "web", "--existing"}, "  - .spec.containers[web].tty: removed true")
	p.want(0, append(slices.Clone(adopt), "--existing"), "2 pods will be replaced once you release them", "The pods run as before the adoption.")
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced")

	p.want(0, adopt, "The pods run as before the adoption.")
	secrets := kube.CoreV1().Secrets(p.namespace)
	backup, err := secrets.Get(t.Context(), "web-before-adoption", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const key = "deployment.json"
	saved := bytes.Clone(backup.Data[key])
	write := func(content []byte) {
		t.Helper()
		backup.Data[key] = content
		if backup, err = secrets.Update(t.Context(), backup, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	write(bytes.ReplaceAll(saved, []byte("example.com/shop:1"), []byte("example.com/evil:1")))
	if r := p.want(2, []string{"adopt", "web", "--abort"}); !strings.Contains(r.stderr, "the Secret web-before-adoption has another pod template than the pods that run") {
		t.Errorf("%q", r.stderr)
	}
	p.get("web") // It is still there.
	write(saved)
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced")
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}
