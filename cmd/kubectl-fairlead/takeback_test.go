// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/plan"
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
	patch, ctx, options := marks(application), p.Context(), metav1.PatchOptions{}
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

// marks is the patch that gives an object to the Application.
func marks(application *v1.Application) []byte {
	return []byte(`{"metadata":{"annotations":{"` + v1.AnnotationOwnerUID + `":"` + string(application.UID) + `"},` +
		`"labels":{"` + v1.LabelManagedBy + `":"` + v1.ManagedBy + `","` + v1.LabelApplication + `":"` + application.Name + `"}}}`)
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

// patchSpec changes the spec of web with a merge patch.
func (p *plugin) patchSpec(spec string) {
	p.Helper()
	patch, err := yaml.YAMLToJSON([]byte("{spec: " + spec + "}"))
	if err != nil {
		p.Fatal(err)
	}
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(p.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		p.Fatal(err)
	}
}

// TestTakeBackAfterEject: eject gives the fields up, so what the manifest lacks stays. Both ways that the guide names remove it.
func TestTakeBackAfterEject(t *testing.T) {
	const (
		lean = "{image: 'ghcr.io/acme/web:1', replicas: 2, env: [{name: A, value: '1'}]}"
		full = "{image: 'ghcr.io/acme/web:1', replicas: 2, env: [{name: A, value: '1'}, {name: B, value: '2'}], livenessProbe: {exec: {command: ['true']}}}"
	)
	for name, remove := range map[string]func(p *plugin, kube kubernetes.Interface){
		"by the manifest": func(p *plugin, _ kubernetes.Interface) {
			p.patchSpec(full)
			p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
			p.patchSpec(strings.Replace(lean, "{", "{livenessProbe: null, ", 1))
		},
		"by hand": func(p *plugin, kube kubernetes.Interface) {
			patch := `{"spec":{"template":{"spec":{"containers":[{"name":"web","livenessProbe":null,"env":[{"name":"B","$patch":"delete"}]}]}}}}`
			if _, err := kube.AppsV1().Deployments(p.namespace).Patch(p.Context(), "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				p.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
			has := func(variables int, probe bool) bool {
				container := p.deployment(kube).Spec.Template.Spec.Containers[0]
				return len(container.Env) == variables && (container.LivenessProbe != nil) == probe
			}
			p.create("web", full)
			p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
			p.want(0, []string{"eject", "web"})
			p.takes(kube, p.create("web", lean))
			p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
			if !has(2, true) {
				t.Error("what the manifest lacks is gone; docs/guides/take-back.md says that it stays")
			}
			remove(p, kube)
			p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
			p.eventually("the end of what the manifest lacks", func() bool { return has(1, false) })
		})
	}
}

// TestTakeBackOfHandedOverIngress: eject takes the last label off an Ingress that its user handed over, and the next Application of the name
// can take it back all the same.
func TestTakeBackOfHandedOverIngress(t *testing.T) {
	p := start(t)
	ctx, ingresses := t.Context(), kubernetes.NewForConfigOrDie(p.cluster.Config()).NetworkingV1().Ingresses(p.namespace)
	backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Name: "http"}}}
	if _, err := ingresses.Create(ctx, &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: networkingv1.IngressSpec{DefaultBackend: backend}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	spec := "{image: 'ghcr.io/acme/web:1', ports: [{name: http, containerPort: 8080}], routes: [{name: public, hostnames: [" + p.namespace + ".example.com]}]}"
	application := p.create("web", spec)
	if _, err := ingresses.Patch(ctx, "web", types.MergePatchType, marks(application), metav1.PatchOptions{FieldManager: "kubectl-label"}); err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"eject", "web"})
	if ingress, err := ingresses.Get(ctx, "web", metav1.GetOptions{}); err != nil || len(ingress.Labels) > 0 || !plan.IsEjected(ingress) {
		t.Errorf("after eject, the Ingress is %+v, %v", ingress.ObjectMeta, err)
	}
	already := p.namespace + "/web: ejected already. The Application is gone, and these objects are yours:\n  ServiceAccount web\n  Deployment web\n  Service web\n"
	p.want(0, []string{"eject", "web", "--dry-run=client"}, already, "  Ingress web\n  An Application of this name can take them back: see docs/guides/take-back.md\n")
	p.create("web", spec)
	p.eventually("the conflict", func() bool {
		return strings.Contains(p.run("why", "web").stdout, "Ingress web") && strings.Contains(p.run("why", "web").stdout, "take-back.md")
	})
	p.want(0, []string{"eject", "web", "--dry-run=client"}, "  Ejected before, and not the Application's any more: ServiceAccount web, Deployment web, Service web, ", "Ingress web. An Application of this name can take them back: ")
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
	for _, dryRun := range []string{"client", "server"} {
		if r := p.want(0, []string{"adopt", "web", "--harden", "--dry-run=" + dryRun, "-o", "yaml"}, "kind: Application\n"); strings.Contains(r.stdout, "status:") {
			t.Errorf("an Application that does not exist yet has a status:\n%s", r.stdout)
		}
	}
	p.create("web", "{image: 'ghcr.io/acme/web:2'}")
	want = "error: the Deployment web was left behind by an earlier Application: take it back into the Application web as docs/guides/take-back.md says\n"
	if r := p.want(2, []string{"adopt", "web", "--harden"}); r.stderr != want {
		t.Errorf("adopt into an Application without a consent: %q, want %q", r.stderr, want)
	}
}
