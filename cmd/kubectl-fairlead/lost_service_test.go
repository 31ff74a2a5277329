// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// loseService adopts what runs, and deletes the Service while the pods are held. It returns the Service as it was, once the Application
// has created one of its own.
func (p *plugin) loseService(kube kubernetes.Interface) *corev1.Service {
	p.Helper()
	services := kube.CoreV1().Services(p.namespace)
	before, err := services.Get(p.Context(), "web", metav1.GetOptions{})
	if err != nil {
		p.Fatal(err)
	}
	p.want(0, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}, "The pods run as before the adoption.")
	if err := services.Delete(p.Context(), "web", metav1.DeleteOptions{}); err != nil {
		p.Fatal(err)
	}
	p.eventually("the Service of the Application", func() bool {
		live, err := services.Get(p.Context(), "web", metav1.GetOptions{})
		return err == nil && live.Spec.Selector[v1.LabelApplication] == "web"
	})
	return before
}

// wantService wants the Service as it was, and no backup of it.
func (p *plugin) wantService(kube kubernetes.Interface, before *corev1.Service) {
	p.Helper()
	live, err := kube.CoreV1().Services(p.namespace).Get(p.Context(), "web", metav1.GetOptions{})
	if err != nil {
		p.Fatal(err)
	}
	if live.UID == before.UID {
		p.Error("the Service was not deleted")
	}
	if diff := cmp.Diff(before.Spec, live.Spec); diff != "" {
		p.Errorf("the spec of the Service (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before.Labels, live.Labels); diff != "" || len(live.Annotations)+len(live.OwnerReferences) > 0 {
		p.Errorf("the Service has other metadata: %v, %v, %s", live.Annotations, live.OwnerReferences, diff)
	}
	if len(live.ManagedFields) != 1 || live.ManagedFields[0].Manager != before.ManagedFields[0].Manager {
		p.Errorf("the Service has other managers: %v", live.ManagedFields)
	}
	if _, err := kube.CoreV1().Secrets(p.namespace).Get(p.Context(), "web-before-adoption", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		p.Errorf("the Secret is left: %v", err)
	}
}

// TestAbortCreatesTheDeletedService: a user deleted the Service while the pods were held. Only the Secret still says what it was.
func TestAbortCreatesTheDeletedService(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	_, pods := p.runs(kube)
	before := p.loseService(kube)
	const of = " created again as it was, in place of the one that the Application created.\n"
	p.want(0, []string{"adopt", "web", "--abort", "--dry-run=client"}, "  The Service web was deleted meanwhile, and would be"+of)
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced", "  The Service web was deleted meanwhile, and is"+of)
	p.wantService(kube, before)
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}

// TestEjectRestoresTheDeletedService: the same, and after the rollout; without the Application's own Service, too.
func TestEjectRestoresTheDeletedService(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	before := p.loseService(kube)
	p.want(0, []string{"adopt", "web", "--rollout"}, "all 2 pods will be replaced")
	p.eventually("the condition Adopted", func() bool { return meta.IsStatusConditionTrue(p.get("web").Status.Conditions, v1.ConditionAdopted) })
	const said = "  The Service web was deleted meanwhile, and is created again as it was, in place of the one that the Application created.\n"
	dryRun := p.want(0, []string{"eject", "web", "--restore", "--dry-run=client"}, "The Deployment and the Service become what they were", said)
	if strings.Contains(dryRun.stdout, "  Service web\n") {
		t.Errorf("it says that the Service stays:\n%s", dryRun.stdout)
	}
	ejected := p.want(0, []string{"eject", "web", "--restore"}, said, "  Of what changes, this is about code, privileges and data:\n", "  ~ Service/web: .spec.selector", "ejected.")
	if strings.Contains(ejected.stdout, "service/web") {
		t.Errorf("it advises to delete the Service that it restored:\n%s", ejected.stdout)
	}
	p.wantService(kube, before)
}

// TestAbortKeepsAnotherService: the user created another Service of the name. It stays, and the Secret keeps what the earlier one was.
func TestAbortKeepsAnotherService(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	p.loseService(kube)
	services := kube.CoreV1().Services(p.namespace)
	p.want(0, []string{"pause", "web"})
	p.stop()
	if err := services.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	mine := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "other"}, Ports: []corev1.ServicePort{{Port: 81}}}}
	mine, err := services.Create(t.Context(), mine, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.control()
	said := "  The Service web is another one than before the adoption, and stays as it is. The Secret web-before-adoption stays, and has the earlier one. To read it: kubectl -n " +
		p.namespace + ` get secret web-before-adoption -o jsonpath='{.data.service\.json}' | base64 -d. Once you do not need it: kubectl -n ` + p.namespace + " delete secret web-before-adoption\n"
	p.want(0, []string{"eject", "web", "--restore", "--dry-run=client"}, "The Deployment becomes what it was before the adoption: no pod is replaced.", said)
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced", said)
	live, err := services.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || live.UID != mine.UID {
		t.Errorf("the user's Service is gone: %v", err)
	}
	if secret, saved := p.backup(kube); len(saved) == 0 || len(secret.Data["service.json"]) == 0 {
		t.Error("the Secret has lost what it said")
	}
}

// TestAbortOfADeletedDeployment: a user deleted the Deployment while the pods were held. The Application created it again, without pods, and
// the user learns what the Secret still has.
func TestAbortOfADeletedDeployment(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	before, _ := p.runs(kube)
	p.want(0, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}, "The pods run as before the adoption.")
	if err := kube.AppsV1().Deployments(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the Deployment of the Application", func() bool {
		live, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && live.UID != before.UID && live.Status.ObservedGeneration == live.Generation
	})
	read := "kubectl -n " + p.namespace + ` get secret web-before-adoption -o jsonpath='{.data.deployment\.json}' | base64 -d`
	want := "error: the Deployment web was deleted and created again after the adoption began, so there is nothing to take back. " +
		"The Secret web-before-adoption still has the earlier one. To read it: " + read +
		". The Deployment is the Application's now. To start its pods, run kubectl fairlead -n " + p.namespace + " resume web\n"
	if r := p.want(2, []string{"adopt", "web", "--abort"}); r.stderr != want {
		t.Errorf("%q, want %q", r.stderr, want)
	}
	if r := p.want(2, []string{"eject", "web", "--restore"}); !strings.Contains(r.stderr, "leave out --restore. The Secret still has the earlier one. To read it: "+read) {
		t.Errorf("eject says %q", r.stderr)
	}
	p.backup(kube)
	p.want(0, []string{"adopt", "web", "--rollout", "--dry-run=client"}, p.namespace+"/web: no pod runs, and 2 pods will be started.\n")
}
