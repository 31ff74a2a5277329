// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// key is the part of a backup with the Deployment.
const key = "deployment.json"

// backup returns the Secret with what the objects were, and what it says about the Deployment.
func (p *plugin) backup(kube kubernetes.Interface) (*corev1.Secret, []byte) {
	p.Helper()
	backup, err := kube.CoreV1().Secrets(p.namespace).Get(p.Context(), "web-before-adoption", metav1.GetOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return backup, bytes.Clone(backup.Data[key])
}

// writeBackup changes a part of a backup, as any user with permission to edit Secrets can.
func (p *plugin) writeBackup(kube kubernetes.Interface, backup *corev1.Secret, part string, content []byte) *corev1.Secret {
	p.Helper()
	backup.Data[part] = content
	written, err := kube.CoreV1().Secrets(p.namespace).Update(p.Context(), backup, metav1.UpdateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return written
}

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
	p.want(0, append(slices.Clone(adopt), "--existing", "--dry-run=client"), `  ~ .spec.containers[web].image: "example.com/shop:1" → "example.com/evil:1"`, "  not written (dry run)")
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

	// A backup of the tenant's, made before the adoption.
	live := p.deployment(kube)
	live.Spec.Template.Spec.Containers[0].Image = "example.com/evil:1"
	content, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	secrets := kube.CoreV1().Secrets(p.namespace)
	forged := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web-before-adoption"}, Data: map[string][]byte{key: content}}
	if _, err := secrets.Create(t.Context(), forged, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if r := p.want(2, adopt); !strings.Contains(r.stderr, "the Secret web-before-adoption says something else than what runs. Keep a copy") {
		t.Errorf("%q", r.stderr)
	}
	if err := secrets.Delete(t.Context(), forged.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	p.want(0, adopt, "The pods run as before the adoption.")
	backup, saved := p.backup(kube)
	write := func(content []byte) { backup = p.writeBackup(kube, backup, key, content) }
	write(bytes.ReplaceAll(saved, []byte("example.com/shop:1"), []byte("example.com/evil:1")))
	if r := p.want(2, []string{"adopt", "web", "--abort"}); !strings.Contains(r.stderr, "the Secret web-before-adoption has another pod template than the pods that run") {
		t.Errorf("%q", r.stderr)
	}
	write(bytes.ReplaceAll(saved, []byte(`"progressDeadlineSeconds":600`), []byte(`"progressDeadlineSeconds":1`)))
	if r := p.want(2, []string{"adopt", "web", "--abort"}); !strings.Contains(r.stderr, "the Secret web-before-adoption is not as the adoption saved it, and nothing was written. ") {
		t.Errorf("%q", r.stderr)
	}
	p.want(2, []string{"eject", "web", "--restore", "--dry-run=client"}, "progressDeadlineSeconds")
	p.get("web") // It is still there.
	write(saved)
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced")
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}

// TestEjectTrustsNoTenant: a tenant with permission to edit Secrets, but not Deployments and Services, changes the backup after the
// adoption. A user who restores it reads what it would change, and nothing is written.
func TestEjectTrustsNoTenant(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	p.want(0, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"})
	p.want(0, []string{"adopt", "web", "--rollout"})
	p.eventually("the condition Adopted", func() bool { return meta.IsStatusConditionTrue(p.get("web").Status.Conditions, v1.ConditionAdopted) })
	backup, saved := p.backup(kube)
	service := bytes.Clone(backup.Data["service.json"])
	restore := []string{"eject", "web", "--restore"}
	for name, change := range map[string]struct {
		part       string
		from, to   string
		wantChange string
	}{
		"another image": {key, "example.com/shop:1", "example.com/evil:1", `  ~ Deployment/web: .spec.template.spec.containers[web].image: "example.com/shop:1" → "example.com/evil:1"`},
		"a hostPath": {
			key, `"containers":[`, `"volumes":[{"name":"host","hostPath":{"path":"/"}}],"containers":[`,
			`  ~ Deployment/web: .spec.template.spec.volumes[host].hostPath.path: added "/"`,
		},
		"other addresses": {"service.json", `"selector":{`, `"externalIPs":["192.0.2.1"],"selector":{`, `  ~ Service/web: .spec.externalIPs[0]: added "192.0.2.1"`},
		"fewer pods":      {key, `"maxUnavailable":"25%"`, `"maxUnavailable":"100%"`, `  ~ Deployment/web: .spec.strategy.rollingUpdate.maxUnavailable: `},
		"another release": {"release.json", "", `{"namespace":"` + p.namespace + `","name":"web","manifest":"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"}`, ""},
	} {
		before := map[string][]byte{key: saved, "service.json": service}[change.part]
		content := bytes.Replace(before, []byte(change.from), []byte(change.to), 1)
		if bytes.Equal(before, content) {
			t.Fatalf("%s: the backup does not have %s", name, change.from)
		}
		backup = p.writeBackup(kube, backup, change.part, content)
		for _, args := range [][]string{restore, append(slices.Clone(restore), "--dry-run=client"), append(slices.Clone(restore), "--accept-backup=sha256:00")} {
			if r := p.want(2, args, change.wantChange); !strings.Contains(r.stderr, "the Secret web-before-adoption is not as the adoption saved it, and nothing was written.") {
				t.Errorf("%s: %q says %q", name, args, r.stderr)
			}
		}
		if p.get("web").DeletionTimestamp != nil || p.deployment(kube).Labels[v1.LabelApplication] != "web" {
			t.Fatalf("%s: a refused restoration wrote something", name)
		}
		backup.Data[key], backup.Data["service.json"] = saved, service
		delete(backup.Data, "release.json")
		backup = p.writeBackup(kube, backup, key, saved)
	}

	p.want(0, restore, `  ~ Deployment/web: .spec.template.spec.containers[web].securityContext`, "ejected.")
	live := p.deployment(kube)
	if _, has := live.Annotations["apps.fairlead.dev/backup-digest"]; has || live.Spec.Template.Spec.Containers[0].Image != "example.com/shop:1" {
		t.Errorf("after --restore: %v, %s", live.Annotations, live.Spec.Template.Spec.Containers[0].Image)
	}
	// From here on, no object names the digest; the user may accept what the Secret says.
	forged := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: backup.Name}, Data: map[string][]byte{key: bytes.ReplaceAll(saved, []byte("example.com/shop:1"), []byte("example.com/shop:0"))}}
	if _, err := kube.CoreV1().Secrets(p.namespace).Create(t.Context(), forged, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r := p.want(2, restore, `.spec.template.spec.containers[shop].image: "example.com/shop:1" → "example.com/shop:0"`)
	_, accept, found := strings.Cut(strings.TrimSpace(r.stderr), "pass ")
	if !found {
		t.Fatalf("no flag in %q", r.stderr)
	}
	p.want(0, append(restore, accept), "ejected.")
	if image := p.deployment(kube).Spec.Template.Spec.Containers[0].Image; image != "example.com/shop:0" {
		t.Errorf("the image is %s", image)
	}
}
