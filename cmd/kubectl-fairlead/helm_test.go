// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// helmChart has what `helm create` makes, in few lines: the name of the objects is that of the release.
func helmChart() *chart.Chart {
	const labels = "labels: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: {{ .Release.Name }}, app.kubernetes.io/managed-by: {{ .Release.Service }}}"
	const selector = "{app.kubernetes.io/name: shop, app.kubernetes.io/instance: {{ .Release.Name }}}"
	return &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "shop", Version: "1.0.0"},
		Values:   map[string]any{"tag": "1"},
		Templates: []*common.File{
			{Name: "templates/account.yaml", Data: []byte(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}-account, ` + labels + `}
`)},
			{Name: "templates/service.yaml", Data: []byte(`
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}, ` + labels + `}
spec: {selector: ` + selector + `, ports: [{port: 80, targetPort: http, name: http}]}
`)},
			{Name: "templates/deployment.yaml", Data: []byte(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}, ` + labels + `}
spec:
  replicas: 2
  selector: {matchLabels: ` + selector + `}
  template:
    metadata: {labels: ` + selector + `}
    spec:
      containers: [{name: shop, image: "example.com/shop:{{ .Values.tag }}", ports: [{name: http, containerPort: 8080}]}]
`)},
		},
	}
}

// helm is Helm itself, for the release web in the namespace of the plugin.
type helm struct {
	*plugin
	config *action.Configuration
}

func (p *plugin) helm() *helm {
	p.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	kubeconfig := p.cluster.Kubeconfig()
	flags.KubeConfig, flags.Namespace = &kubeconfig, &p.namespace
	config := action.NewConfiguration()
	if err := config.Init(flags, p.namespace, "secrets"); err != nil {
		p.Fatal(err)
	}
	return &helm{plugin: p, config: config}
}

func (h *helm) install() {
	h.Helper()
	install := action.NewInstall(h.config)
	install.ReleaseName, install.Namespace, install.WaitStrategy = "web", h.namespace, kube.HookOnlyStrategy
	if _, err := install.RunWithContext(h.Context(), helmChart(), nil); err != nil {
		h.Fatalf("helm install: %v", err)
	}
}

func (h *helm) upgrade(tag string) error {
	upgrade := action.NewUpgrade(h.config)
	upgrade.Namespace, upgrade.WaitStrategy = h.namespace, kube.HookOnlyStrategy
	_, err := upgrade.RunWithContext(h.Context(), "web", helmChart(), map[string]any{"tag": tag})
	return err
}

func (h *helm) uninstall() {
	h.Helper()
	uninstall := action.NewUninstall(h.config)
	uninstall.WaitStrategy = kube.HookOnlyStrategy
	if _, err := uninstall.Run("web"); err != nil {
		h.Fatalf("helm uninstall: %v", err)
	}
}

// wantHistory compares the states of the revisions, oldest first.
func (h *helm) wantHistory(want ...string) {
	h.Helper()
	revisions, err := action.NewHistory(h.config).Run("web")
	if err != nil {
		h.Fatal(err)
	}
	got := make([]string, len(revisions))
	for _, revision := range revisions {
		r, is := revision.(*release.Release)
		if !is || r.Version > len(got) {
			h.Fatalf("revision %v", revision)
		}
		got[r.Version-1] = r.Info.Status.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.Errorf("helm history (-want +got):\n%s", diff)
	}
}

// manifest is the one of the newest revision, which is deployed.
func (h *helm) manifest() string {
	h.Helper()
	newest, err := action.NewGet(h.config).Run("web")
	if err != nil {
		h.Fatal(err)
	}
	r, is := newest.(*release.Release)
	if !is || r.Info.Status.String() != "deployed" {
		h.Fatalf("the newest revision is %v", newest)
	}
	return r.Manifest
}

// wantImage waits until the Deployment has the image, and both its pods.
func (h *helm) wantImage(kube kubernetes.Interface, image string) {
	h.Helper()
	h.eventually("pods of "+image, func() bool {
		live, err := kube.AppsV1().Deployments(h.namespace).Get(h.Context(), "web", metav1.GetOptions{})
		if err != nil {
			h.Fatal(err)
		}
		return live.Spec.Template.Spec.Containers[0].Image == image && len(live.Spec.Template.Spec.Containers) == 1 &&
			live.Status.ObservedGeneration == live.Generation && live.Status.AvailableReplicas == 2 && live.Status.Replicas == 2 && live.Status.UpdatedReplicas == 2
	})
}

// TestAdoptFromHelm takes the objects of a Helm release over, gives them back, takes them again, replaces the pods, and
// goes back to Helm. Helm itself says what it makes of that.
func TestAdoptFromHelm(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	h := p.helm()
	h.install()
	h.wantImage(kube, "example.com/shop:1")
	pods := p.pods(kube)

	if r := p.want(2, []string{"adopt", "web", "--harden"}); !strings.Contains(r.stderr, "the Helm release "+p.namespace+"/web has the Deployment: pass --from-helm") {
		t.Errorf("no advice in %q", r.stderr)
	}
	adopt := []string{"adopt", "web", "--harden", "--from-helm"}
	gives := "The Helm release " + p.namespace + "/web gives the adopted objects up. It keeps ServiceAccount web-account,"
	p.want(0, append(adopt, "--dry-run=client"), gives)
	h.wantHistory("deployed")

	if r := p.want(0, adopt, gives, "The pods run as before the adoption."); strings.Contains(r.stderr, `Service "web"`) {
		t.Errorf("a warning of the Service that is adopted: %s", r.stderr)
	}
	h.wantHistory("superseded", "deployed")
	if err := h.upgrade("2"); err == nil || !strings.Contains(err.Error(), "cannot be imported into the current release") {
		t.Errorf("helm upgrade of an adopted Deployment: %v", err)
	}
	h.wantHistory("superseded", "deployed")
	p.want(0, adopt[:2], "its adoption goes on") // Again, without the flags.
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("the adoption replaced pods:\n%s", diff)
	}

	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced")
	h.wantHistory("superseded", "superseded", "deployed")
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("--abort replaced pods:\n%s", diff)
	}
	if err := h.upgrade("2"); err != nil {
		t.Fatalf("helm upgrade after --abort: %v", err)
	}
	h.wantImage(kube, "example.com/shop:2")

	p.want(0, adopt, gives)
	p.want(0, []string{"adopt", "web", "--rollout"})
	p.eventually("the condition Adopted", func() bool {
		for _, condition := range p.get("web").Status.Conditions {
			if condition.Type == v1.ConditionAdopted {
				return condition.Status == metav1.ConditionTrue
			}
		}
		return false
	})
	p.want(0, []string{"eject", "web", "--to-helm", "--dry-run=client"}, "all pods are replaced")
	p.want(0, []string{"eject", "web", "--to-helm"}, "ejected", "kubectl -n "+h.namespace+" delete serviceaccount/web")
	h.wantImage(kube, "example.com/shop:2")
	if err := h.upgrade("3"); err != nil {
		t.Fatalf("helm upgrade after --to-helm: %v", err)
	}
	h.wantImage(kube, "example.com/shop:3")
	h.uninstall()
	h.wantGone(kube, true)
}

// wantGone wants that Helm deleted the Deployment, or not.
func (h *helm) wantGone(kube kubernetes.Interface, gone bool) {
	h.Helper()
	_, err := kube.AppsV1().Deployments(h.namespace).Get(h.Context(), "web", metav1.GetOptions{})
	if apierrors.IsNotFound(err) != gone {
		h.Errorf("after helm uninstall, get the Deployment: %v", err)
	}
	if _, err := kube.CoreV1().ServiceAccounts(h.namespace).Get(h.Context(), "web-account", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		h.Errorf("after helm uninstall, get the ServiceAccount: %v", err)
	}
}

// TestUninstallLeavesTheAdopted: what a release gave up is safe from its end. Then there is no release to go back to, and the
// objects are plain ones afterwards.
func TestUninstallLeavesTheAdopted(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	h := p.helm()
	h.install()
	h.wantImage(kube, "example.com/shop:1")
	pods := p.pods(kube)
	adopt := []string{"adopt", "web", "--harden", "--from-helm"}
	p.want(0, adopt)
	h.uninstall()
	h.wantGone(kube, false)
	p.want(0, adopt, "its adoption goes on")
	if r := p.want(2, []string{"eject", "web", "--to-helm"}); !strings.Contains(r.stderr, "no Secret has a revision of it") || p.get("web") == nil {
		t.Errorf("--to-helm without a release says %q", r.stderr)
	}
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced")
	p.want(0, []string{"adopt", "web", "--abort"}, "there is nothing to take back")
	h.wantGone(kube, false)
	if live := p.deployment(kube); live.Annotations["meta.helm.sh/release-name"] != "" || live.Labels["app.kubernetes.io/managed-by"] != "" {
		t.Errorf("the Deployment is marked as Helm's: %v, %v", live.Annotations, live.Labels)
	}
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}

// TestBackupOfATenant: the Secret with the backup is not trusted beyond its namespace. Whoever writes one there cannot make a
// user who may change all releases change one for them.
func TestBackupOfATenant(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	live, _ := p.runs(kube)
	live.Namespace = "kube-system" // What the backup says about that does not count.
	deployment, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	for name, release := range map[string]string{
		"another namespace": `{"namespace":"kube-system","name":"network","manifest":"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"}`,
		"another object":    `{"namespace":"` + p.namespace + `","name":"web","manifest":"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: web}\n"}`,
	} {
		secret, err := kube.CoreV1().Secrets(p.namespace).Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "web-before-adoption"},
			StringData: map[string]string{"deployment.json": string(deployment), "release.json": release},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}, {"adopt", "web", "--abort"}, {"eject", "web", "--to-helm"}} {
			if r := p.want(2, args); !strings.Contains(r.stderr, "names a release of another namespace, or other objects") {
				t.Errorf("%s: %q says %q", name, args, r.stderr)
			}
		}
		if err := kube.CoreV1().Secrets(p.namespace).Delete(t.Context(), secret.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestoreKeepsWhatHelmNeeds: plain objects can go back to their Helm release later, with what the Secret has of it.
func TestRestoreKeepsWhatHelmNeeds(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	h := p.helm()
	h.install()
	h.wantImage(kube, "example.com/shop:1")
	p.want(0, []string{"adopt", "web", "--harden", "--from-helm"})
	p.want(0, []string{"eject", "web", "--restore"}, "  The Secret web-before-adoption stays: it has the part of the Helm release, for kubectl fairlead -n "+p.namespace+
		" eject web --to-helm. To delete it: kubectl -n "+p.namespace+" delete secret web-before-adoption\n", "ejected.")
	back := []string{"eject", "web", "--to-helm"}
	r := p.want(2, back) // The marks of the release are gone.
	_, accept, found := strings.Cut(strings.TrimSpace(r.stderr), "pass ")
	if !found {
		t.Fatalf("no flag in %q", r.stderr)
	}
	p.want(0, append(back, accept), "  The Secret web-before-adoption is deleted at the end: the objects are then what it says.\n", "ejected.")
	h.wantImage(kube, "example.com/shop:1")
	if err := h.upgrade("2"); err != nil {
		t.Errorf("helm upgrade: %v", err)
	}
	h.wantImage(kube, "example.com/shop:2")
	p.want(0, back, p.namespace+"/web: there is nothing to give back: the Helm release "+p.namespace+"/web has the Deployment.\n")
}
