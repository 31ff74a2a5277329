// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"os"
	"path/filepath"
	"regexp"
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

// loseBoth deletes the Deployment and the Service, as the garbage collector does after an Application that is not Orphan. Pods may end later.
func (p *plugin) loseBoth(kube kubernetes.Interface) {
	p.Helper()
	background := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	if err := kube.AppsV1().Deployments(p.namespace).Delete(p.Context(), "web", background); err != nil {
		p.Fatal(err)
	}
	if err := kube.CoreV1().Services(p.namespace).Delete(p.Context(), "web", background); err != nil {
		p.Fatal(err)
	}
	p.eventually("the end of the pods", func() bool { return len(p.pods(kube)) == 0 })
}

// TestEjectRestoresTheDeletedDeployment: the Deployment and the Service are gone, with the Application, and only the Secret still says what
// they were.
func TestEjectRestoresTheDeletedDeployment(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	before, _ := p.runs(kube)
	service, err := kube.CoreV1().Services(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}, "The pods run as before the adoption.")
	p.want(0, []string{"adopt", "web", "--rollout"}, "all 2 pods will be replaced")
	p.eventually("the condition Adopted", func() bool { return meta.IsStatusConditionTrue(p.get("web").Status.Conditions, v1.ConditionAdopted) })
	if err := p.fairlead.AppsV1().Applications(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the end of the Application", func() bool {
		_, err := p.fairlead.AppsV1().Applications(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	p.loseBoth(kube)

	eject := "kubectl fairlead -n " + p.namespace + " eject web --restore"
	gone := "error: the Deployment web is gone. The Secret web-before-adoption has it as it was before its adoption. To create it again, as a plain one, run " + eject + "\n"
	for _, arguments := range [][]string{{"adopt", "web", "--abort"}, {"adopt", "web"}} {
		if r := p.want(2, arguments); r.stderr != gone {
			t.Errorf("%s: %q, want %q", arguments, r.stderr, gone)
		}
	}
	said := "  The Deployment web is gone, and is created again as it was before the adoption.\n"
	refused := p.want(2, []string{"eject", "web", "--restore"}, said, `  ~ Deployment/web: .spec.template.spec.containers[0].image: added "example.com/shop:1"`, "  ~ Service/web: .spec.selector.app")
	digest := regexp.MustCompile(`error: the Deployment web is gone, so nothing confirms what the Secret web-before-adoption says about it, and nothing was written\. ` +
		`If the pods may run as printed, pass (--accept-backup=sha256:\w+)\n$`).FindStringSubmatch(refused.stderr)
	if digest == nil {
		t.Fatalf("without --accept-backup it says %q", refused.stderr)
	}
	r := p.want(0, []string{"eject", "web", "--restore", digest[1]}, said, "ejected. The objects are yours.")
	if strings.Contains(r.stdout, "deployment/web") || strings.Contains(r.stdout, "service/web") {
		t.Errorf("it advises to delete what it restored:\n%s", r.stdout)
	}
	p.eventually("the pods from before", func() bool { return len(p.pods(kube)) == 2 })
	live, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Spec, live.Spec); diff != "" {
		t.Errorf("the spec of the Deployment (-before +after):\n%s", diff)
	}
	for _, entry := range live.ManagedFields {
		if entry.Manager == "kubectl-fairlead" {
			t.Errorf("the plugin keeps fields of the Deployment: %s", entry.FieldsV1)
		}
	}
	p.wantService(kube, service)
}

// TestBackupCanBeCreated: without the plugin, a user creates the objects from the Secret.
func TestBackupCanBeCreated(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	before, _ := p.runs(kube)
	p.want(0, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}, "The pods run as before the adoption.")
	backup, _ := p.backup(kube)
	p.want(0, []string{"eject", "web"})
	p.loseBoth(kube)
	for _, part := range []string{"deployment.json", "service.json"} {
		file := filepath.Join(t.TempDir(), part)
		if err := os.WriteFile(file, backup.Data[part], 0o600); err != nil {
			t.Fatal(err)
		}
		if output, err := p.kubectl("", []string{"create", "-f", file}); err != nil {
			t.Errorf("kubectl create -f %s: %v\n%s", part, err, output)
		}
	}
	live, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Spec, live.Spec); diff != "" {
		t.Errorf("the spec of the Deployment (-before +after):\n%s", diff)
	}
	if service, err := kube.CoreV1().Services(p.namespace).Get(t.Context(), "web", metav1.GetOptions{}); err != nil || service.Spec.Type != corev1.ServiceTypeClusterIP {
		t.Errorf("the Service: %v", err)
	}
	// What says the same as the backup is what a restoration would have made of it.
	p.want(0, []string{"eject", "web", "--restore"}, "no pod is replaced.", "ejected. The objects are yours.")
}
