// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// unexposed has a port without a name, and no Service. The Application names the port, and creates a Service that leads to that name.
const unexposed = `
metadata: {name: web, labels: {app: shop}}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: web, image: "example.com/shop:1", ports: [{containerPort: 8080}]}]}
`

// runsUnexposed starts it, and waits until its pods are available.
func (p *plugin) runsUnexposed(kube kubernetes.Interface) []string {
	p.Helper()
	deployment := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict([]byte(unexposed), deployment); err != nil {
		p.Fatal(err)
	}
	if _, err := kube.AppsV1().Deployments(p.namespace).Create(p.Context(), deployment, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	p.eventually("the pods", func() bool { return p.deployment(kube).Status.AvailableReplicas == 2 })
	return p.pods(kube)
}

// TestAbortDeletesOwnService: the Application created a Service, where there was none. It goes with the adoption: it leads to a port that
// the old pods do not have, so it would be in the way of the next one.
func TestAbortDeletesOwnService(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	pods := p.runsUnexposed(kube)
	services := kube.CoreV1().Services(p.namespace)
	for range 2 {
		p.want(0, []string{"adopt", "web", "--harden"}, "  Also created, at the adoption: Service web.\n", "The pods run as before the adoption.")
		p.eventually("the Service of the Application", func() bool {
			_, err := services.Get(t.Context(), "web", metav1.GetOptions{})
			return err == nil
		})
		p.want(0, []string{"adopt", "web", "--abort"}, p.namespace+"/web: the Application is deleted, and the adoption is taken back; no pod was replaced.\n")
		if service, err := services.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("--abort left the Service behind: %v, %v", service.ObjectMeta, err)
		}
	}
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}

// TestAdoptBesideLeftService: an earlier Application left its Service behind, which leads to a port that the pods do not have. The error
// says which object is in the way, and how to delete it.
func TestAdoptBesideLeftService(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runsUnexposed(kube)
	left := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: "web"},
			Annotations: map[string]string{v1.AnnotationOwnerUID: "former"},
		},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{v1.LabelApplication: "web"},
			Ports:    []corev1.ServicePort{{Name: "port-8080", Port: 8080, TargetPort: intstr.FromString("port-8080")}},
		},
	}
	services := kube.CoreV1().Services(p.namespace)
	if _, err := services.Create(t.Context(), left, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := `error: Service web, port 8080: it leads to port "port-8080", which the container web does not have. An earlier Application left this Service behind: ` +
		"if nothing needs it, run kubectl -n " + p.namespace + " delete service web, and this command again\n"
	if r := p.want(2, []string{"adopt", "web", "--harden"}); r.stderr != want {
		t.Errorf("%q, want %q", r.stderr, want)
	}
	// The same Service of a user.
	users := []byte(`[{"op":"remove","path":"/metadata/annotations"},{"op":"remove","path":"/metadata/labels"}]`)
	if _, err := services.Patch(t.Context(), "web", types.JSONPatchType, users, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	want = `error: Service web, port 8080: it leads to port "port-8080", which the container web does not have. So this Deployment cannot be adopted as it is. ` +
		"If its pods can do without that, an Application can replace it without stopping them: see 'Move an existing Deployment' in docs/applications.md\n"
	if r := p.want(2, []string{"adopt", "web", "--harden"}); r.stderr != want {
		t.Errorf("%q, want %q", r.stderr, want)
	}
	if err := services.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"adopt", "web", "--harden"}, "The pods run as before the adoption.")
}

// TestAdoptExistingBesideOwnService: an Application met a Deployment without a Service, and created one. That is no object to adopt: the
// advice of the warning leads to the adoption of the Deployment alone.
func TestAdoptExistingBesideOwnService(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	pods := p.runsUnexposed(kube)
	created := p.create("web", `{image: "example.com/shop:1", replicas: 2, deletionPolicy: Orphan, podMetadata: {labels: {app: shop}}, disruptionBudget: {mode: Disabled}, ports: [{name: http, containerPort: 8080}]}`)
	services := kube.CoreV1().Services(p.namespace)
	var before *corev1.Service
	p.eventually("the Service of the Application", func() bool {
		service, err := services.Get(t.Context(), "web", metav1.GetOptions{})
		before = service
		return err == nil && child.OwnedBy(service, created)
	})
	consent := []byte(`{"spec":{"adoptionPolicy":"Consented","paused":true}}`)
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, consent, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	adopt := []string{"adopt", "web", "--existing"}
	r := p.want(0, append(slices.Clone(adopt), "--dry-run=client"), "2 pods will be replaced once you release them", "its adoption would go on.")
	if strings.Contains(r.stdout, "Service web") {
		t.Errorf("the Service is announced, and exists already:\n%s", r.stdout)
	}
	p.want(0, adopt, "saved in Secret web-before-adoption", "The pods run as before the adoption.")
	after, err := services.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || after.UID != before.UID || !child.OwnedBy(after, created) {
		t.Errorf("the Service is %v, %v; it was %v", after.ObjectMeta, err, before.ObjectMeta)
	}
	p.want(0, adopt, "The pods run as before the adoption.")
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced")
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}

// TestEjectThenRestore: a second run restores the Deployment, and names what the Application had made for itself, as a single run does.
func TestEjectThenRestore(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	pods := p.runsUnexposed(kube)
	p.want(0, []string{"adopt", "web", "--harden"}, "The pods run as before the adoption.")
	p.eventually("the Service of the Application", func() bool {
		_, err := kube.CoreV1().Services(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil
	})
	p.want(0, []string{"eject", "web"}, "ServiceAccount web", "ejected. The objects are yours.\n")
	deletion := "kubectl -n " + p.namespace + " delete serviceaccount/web service/web\n"
	// An Application that waits for the objects changes nothing about that.
	p.create("web", "{image: example.com/shop:1, adoptionPolicy: Consented}")
	p.eventually("the conflict", func() bool { return strings.Contains(p.run("get", "web").stdout, "Conflict") })
	r := p.want(0, []string{"eject", "web", "--restore", "-o", "name"})
	if want := "ejected. The objects are yours.\n  The Application had made these for itself. Delete them: " + deletion; !strings.HasSuffix(r.stderr, want) {
		t.Errorf("%q, want the end %q", r.stderr, want)
	}
	if r.stdout != "deployment.apps/web\n" {
		t.Errorf("the restored objects are %q", r.stdout)
	}
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
	// That Service is in the way of the next adoption.
	advice := "An earlier Application left this Service behind: if nothing needs it, run kubectl -n " + p.namespace + " delete service web, and this command again\n"
	if r := p.want(2, []string{"adopt", "web", "--harden"}); !strings.HasSuffix(r.stderr, advice) {
		t.Errorf("%q, want the end %q", r.stderr, advice)
	}
	if err := kube.CoreV1().Services(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// So is the ServiceAccount.
	advice = "error: ServiceAccount web was left behind by an earlier Application: delete it if nothing needs it (kubectl -n " + p.namespace +
		" delete serviceaccount/web), or take it back as docs/guides/take-back.md says. The pods of the Deployment do not run as ServiceAccount web\n"
	if r := p.want(2, []string{"adopt", "web", "--harden"}); r.stderr != advice {
		t.Errorf("%q, want %q", r.stderr, advice)
	}
}
