// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// resources are those that TestEject follows.
var resources = []child.Kind{child.ServiceAccount, child.ConfigMap, child.Deployment, child.Service, child.HorizontalPodAutoscaler, child.PodDisruptionBudget}

// live returns the objects of an Application, by kind.
func (p *plugin) live(name string) map[string]*unstructured.Unstructured {
	p.Helper()
	objects := map[string]*unstructured.Unstructured{}
	client := dynamic.NewForConfigOrDie(p.cluster.Config())
	for _, kind := range resources {
		of := name
		if kind == child.ConfigMap {
			of += "-config"
		}
		object, err := client.Resource(kind.GroupVersionResource()).Namespace(p.namespace).Get(p.Context(), of, metav1.GetOptions{})
		if err != nil {
			p.Fatalf("get %s %s: %v", kind, of, err)
		}
		objects[kind.Kind] = object
	}
	return objects
}

// TestEject deletes an Application alone. What it made goes on, without marks, and the manifests describe it.
func TestEject(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, resources: {requests: {cpu: 10m}}, ports: [{name: http, containerPort: 8080}], config: {mountPath: /etc/web, data: {a: b}}, autoscaling: {minReplicas: 2, maxReplicas: 3, targetCPUUtilizationPercentage: 80}}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	before, pods := p.live("web"), p.pods(kube)
	files := filepath.Join(t.TempDir(), "web")

	p.want(0, []string{"eject", "web", "--dry-run=client", "--output-dir=" + files}, "these objects stay:", "Deployment web", "No pod is replaced.", "not written")
	if _, err := os.Stat(files); !os.IsNotExist(err) {
		t.Errorf("a dry run wrote files: %v", err)
	}
	r := p.want(0, []string{"eject", "web", "--dry-run=client", "-o", "name"}, "deployment.apps/web\n", "service/web\n")
	if strings.Contains(r.stdout, " ") || !strings.Contains(r.stderr, "these objects stay:") {
		t.Errorf("-o name prints %q, and %q", r.stdout, r.stderr)
	}
	if r := p.want(2, []string{"eject", "web", "--restore"}); !strings.Contains(r.stderr, "there is no Secret web-before-adoption") {
		t.Errorf("--restore without an adoption says %q", r.stderr)
	}
	for _, flag := range []string{"--restore", "--to-helm"} {
		want := "error: pass --output-dir, or --restore or --to-helm, but not both: it saves the objects as the Application has them, and not as they are restored. " +
			"Restore them first, then save them with kubectl -n " + p.namespace + " get deployment,service web -o yaml\nSee 'kubectl fairlead eject -h' for help and examples\n"
		if r := p.want(2, []string{"eject", "web", flag, "--output-dir=" + files}); r.stderr != want {
			t.Errorf("%s: %q, want %q", flag, r.stderr, want)
		}
	}
	taken := filepath.Join(t.TempDir(), "deployment-web.yaml")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := p.want(2, []string{"eject", "web", "--output-dir=" + filepath.Dir(taken)}); !strings.Contains(r.stderr, "choose another --output-dir") || p.get("web").Spec.DeletionPolicy == v1.DeletionOrphan {
		t.Errorf("a file in the way: %q, and the Application was changed", r.stderr)
	}
	r = p.want(0, []string{"eject", "web", "--output-dir=" + files}, "saved "+files, "ejected. The objects are yours.\n"+
		"  To take them back later, apply the manifest of the Application again: see docs/guides/take-back.md, also if you do not have it.\n")
	if strings.Contains(r.stdout, "before-adoption") {
		t.Errorf("there was no adoption: %s", r.stdout)
	}
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("the Application is not gone: %v", err)
	}

	for kind, after := range p.live("web") {
		if after.GetUID() != before[kind].GetUID() {
			t.Errorf("%s web is another object", kind)
		}
		for _, field := range []string{"spec", "data"} {
			if diff := cmp.Diff(before[kind].Object[field], after.Object[field]); diff != "" {
				t.Errorf("%s of %s changed (-before +after):\n%s", field, kind, diff)
			}
		}
		for key := range after.GetAnnotations() {
			if strings.HasPrefix(key, v1.ReservedPrefix) {
				t.Errorf("%s keeps the annotation %s", kind, key)
			}
		}
		if labels := after.GetLabels(); labels[v1.LabelManagedBy] != "" || kind != "Service" && labels[v1.LabelApplication] != "" {
			t.Errorf("%s keeps the labels %v", kind, labels)
		}
		if len(after.GetOwnerReferences())+len(after.GetFinalizers()) > 0 {
			t.Errorf("%s keeps owners %v or finalizers %v", kind, after.GetOwnerReferences(), after.GetFinalizers())
		}
		for _, entry := range after.GetManagedFields() {
			if entry.Manager == "fairlead" {
				t.Errorf("%s keeps fields of %s", kind, entry.Manager)
			}
		}
		p.applies(filepath.Join(files, strings.ToLower(kind)+"-"+after.GetName()+".yaml"), after)
	}
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
	p.want(0, []string{"eject", "web"}, p.namespace+"/web: ejected already. The Application is gone, and these objects are yours:\n", "  Deployment web\n", "  HorizontalPodAutoscaler web\n")
}

// applies lets a user apply a manifest on the server, without force: it meets no conflict, and changes no spec.
func (p *plugin) applies(file string, live *unstructured.Unstructured) {
	p.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		p.Fatal(err)
	}
	manifest := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(text, &manifest.Object); err != nil {
		p.Fatal(err)
	}
	for _, kind := range resources {
		if kind.Kind != live.GetKind() {
			continue
		}
		applied, err := dynamic.NewForConfigOrDie(p.cluster.Config()).Resource(kind.GroupVersionResource()).Namespace(p.namespace).
			Apply(p.Context(), live.GetName(), manifest, metav1.ApplyOptions{FieldManager: "team"})
		if err != nil {
			p.Errorf("apply %s: %v", file, err)
			return
		}
		if diff := cmp.Diff(live.Object["spec"], applied.Object["spec"]); diff != "" {
			p.Errorf("the manifest changes the spec of %s (-live +applied):\n%s", kind, diff)
		}
	}
}

// TestEjectGoesOn: an Application that ended as an orphan is ejected afterwards, and an adopted one back to its chart.
func TestEjectGoesOn(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	chart, _ := p.runs(kube)
	p.want(0, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"})
	p.want(0, []string{"adopt", "web", "--rollout"})
	adopted := func() bool {
		for _, condition := range p.get("web").Status.Conditions {
			if condition.Type == v1.ConditionAdopted {
				return condition.Status == metav1.ConditionTrue
			}
		}
		return false
	}
	p.eventually("the condition Adopted", adopted)
	if err := p.fairlead.AppsV1().Applications(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the end of the Application", func() bool {
		_, err := p.fairlead.AppsV1().Applications(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})

	line := "kubectl -n " + p.namespace + " delete secret web-before-adoption\n"
	kept := "  The Secret web-before-adoption stays too: it says what the objects were before the adoption, for kubectl fairlead -n " + p.namespace +
		" eject web --restore. Without it they cannot be restored. To delete it: " + line
	p.want(0, []string{"eject", "web", "--dry-run=client"}, kept)
	p.want(0, []string{"eject", "web"}, "the Application is gone", "No pod is replaced.", kept, "ejected.")
	// As after an end between the marks and the restoration; and once more.
	restored := p.want(0, []string{"eject", "web", "--restore", "-o", "yaml"}, "kind: Deployment", "kind: Service")
	for _, text := range []string{"all pods are replaced", "  The Secret web-before-adoption is deleted at the end: the objects are then what it says.\n", "ejected."} {
		if !strings.Contains(restored.stderr, text) {
			t.Errorf("it does not say %q: %s", text, restored.stderr)
		}
	}
	if strings.Contains(restored.stdout, "readOnlyRootFilesystem") { // The Application has it, the chart has not.
		t.Errorf("what it prints is not restored: %s", restored.stdout)
	}
	if _, err := kube.CoreV1().Secrets(p.namespace).Get(t.Context(), "web-before-adoption", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Secret is left: %v", err)
	}
	p.want(0, []string{"eject", "web", "--restore"}, p.namespace+"/web: there is nothing to restore: the Deployment is not adopted, or is restored already.\n")
	p.eventually("the chart's pods", func() bool {
		live, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && live.Status.ObservedGeneration == live.Generation && live.Status.UpdatedReplicas == 2 && live.Status.AvailableReplicas == 2 && live.Status.Replicas == 2
	})
	live, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(chart.Spec, live.Spec); diff != "" {
		t.Errorf("the Deployment is not what it was (-before +after):\n%s", diff)
	}
	service, err := kube.CoreV1().Services(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"app": "shop"}, service.Spec.Selector); diff != "" {
		t.Errorf("the Service selects (-want +got):\n%s", diff)
	}
}
