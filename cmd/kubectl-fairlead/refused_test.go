// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestRefusedEdit: an edit that the webhooks refuse says why once, and so does one that they warn of, because the Application exceeds its
// class already. A dry run on the client, which does not ask them, says it too. Nothing reads as done before the write. The cluster is its own: webhooks and classes would decide
// about the Applications of other tests.
func TestRefusedEdit(t *testing.T) {
	t.Parallel()
	p := &plugin{TB: t, namespace: metav1.NamespaceDefault, cluster: controlplane.ForTest(t, controlplane.APIOnly())}
	p.cluster.InstallCRDs(t, "../../artifacts/crds")
	p.fairlead = versioned.NewForConfigOrDie(p.cluster.Config())
	small := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: v1.ApplicationClassSpec{Limits: &v1.ApplicationLimits{MaxReplicas: new(int32(3))}}}
	small, err := p.fairlead.AppsV1().ApplicationClasses().Create(t.Context(), small, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.control(func(o *app.Options) {
		o.Serving.WebhookBindAddress, o.Serving.WebhookURL = "127.0.0.1:0", "https://127.0.0.1:0"
	})
	p.create("web", "{image: example.com/web:1, className: small, replicas: 2}")
	p.eventually("the webhooks to refuse", func() bool {
		return p.run("scale", "web", "--replicas=9", "--dry-run=server").code != 0
	})
	const reason = "spec.replicas: Invalid value: 9"
	for dryRun, code := range map[string]int{"none": 2, "server": 2, "client": 0} {
		r := p.want(code, []string{"scale", "web", "--replicas=9", "--dry-run=" + dryRun})
		if said := strings.HasPrefix(r.stdout, "default/web: replicas 2 → 9\n"); said != (code == 0) || code != 0 && r.stdout != "" {
			t.Errorf("--dry-run=%s ends with %d, and prints:\n%s", dryRun, code, r.stdout)
		}
		if said := strings.Count(r.stderr, reason); said != 1 {
			t.Errorf("--dry-run=%s says the reason %d times:\n%s", dryRun, said, r.stderr)
		}
	}
	if replicas := *p.get("web").Spec.Replicas; replicas != 2 {
		t.Errorf("%d replicas after refused edits", replicas)
	}

	p.refusesDiff()

	small.Spec.Limits.MaxReplicas = new(int32(1))
	if _, err := p.fairlead.AppsV1().ApplicationClasses().Update(t.Context(), small, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	const warns, excess = "Warning: the spec is stored, but not applied until this is fixed: ", "spec.replicas: Invalid value: 2"
	p.eventually("the webhooks to warn", func() bool { return strings.Contains(p.run("pause", "web", "--dry-run=server").stderr, warns) })
	const carriesOut = "The edit replaces no pod, because such a spec is not carried out (ClassLimitExceeded): "
	for _, test := range [][2]string{{"client", carriesOut}, {"server", warns}, {"none", warns}} {
		dryRun, want := test[0], test[1]
		r := p.want(0, []string{"set", "image", "web", "example.com/web:2", "--dry-run=" + dryRun})
		if !strings.HasPrefix(r.stderr, want+excess) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("--dry-run=%s does not say only %s:\n%s", dryRun, want, r.stderr)
		}
		const effect = "\n  The edit replaces no pod, because such a spec is not carried out (ClassLimitExceeded).\n"
		if said := strings.Contains(r.stdout, effect); said != (want == warns) {
			t.Errorf("--dry-run=%s says the effect beside the warning: %t\n%s", dryRun, said, r.stdout)
		}
	}
	// The warning about one of several comes before the lines about it.
	if r := p.want(0, []string{"set", "image", "first", "web", "example.com/web:3"}); !strings.HasPrefix(r.stderr, strings.Replace(warns, ": ", ": default/web: ", 1)+excess) {
		t.Errorf("the warning does not name the Application:\n%s", r.stderr)
	}
}

// TestEditStoresDefaultClass: an edit of an Application from before the class was the default says that the webhook stored the class, too.
// An edit of a switch alone stores none.
func TestEditStoresDefaultClass(t *testing.T) {
	t.Parallel()
	p := &plugin{TB: t, namespace: metav1.NamespaceDefault, cluster: controlplane.ForTest(t, controlplane.APIOnly())}
	p.cluster.InstallCRDs(t, "../../artifacts/crds")
	p.fairlead = versioned.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	std := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "std", Annotations: map[string]string{v1.AnnotationDefaultClass: "true"}}}
	if _, err := p.fairlead.AppsV1().ApplicationClasses().Create(t.Context(), std, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.control(func(o *app.Options) {
		o.Serving.WebhookBindAddress, o.Serving.WebhookURL = "127.0.0.1:0", "https://127.0.0.1:0"
	})
	scale := []string{"scale", "web", "--replicas=3"}
	const would = "(server dry run)\n  The edit would also store the default class std in spec.className: it would stay when another class becomes the default.\n"
	p.eventually("the webhooks to store the class", func() bool {
		return strings.HasSuffix(p.run(append(slices.Clone(scale), "--dry-run=server")...).stdout, would)
	})
	const also = "The edit also stored"
	for _, edit := range []string{"pause", "observe", "resume"} {
		if r := p.want(0, []string{edit, "web"}); strings.Contains(r.stdout, also) {
			t.Errorf("%s: %s", edit, r.stdout)
		}
	}
	if name := p.get("web").Spec.ClassName; name != "" {
		t.Errorf("the switches stored the class %s", name)
	}
	p.want(0, scale, "  written\n  "+also+" the default class std in spec.className: it stays when another class becomes the default.\n")
	if r := p.want(0, []string{"restart", "web"}, "  written\n"); strings.Contains(r.stdout, also) || p.get("web").Spec.ClassName != "std" {
		t.Errorf("class %q after: %s", p.get("web").Spec.ClassName, r.stdout)
	}
}

// refusesDiff: diff says that the webhooks refuse a file, which only they can know, whether the Application exists or not.
func (p *plugin) refusesDiff() {
	p.Helper()
	p.create("first", "{image: example.com/web:1, ports: [{name: http, containerPort: 8080}], routes: [{name: web, hostnames: [a.example.com]}]}")
	p.create("second", "{image: example.com/web:1, ports: [{name: http, containerPort: 8080}], routes: [{name: web, hostnames: [b.example.com]}]}")
	diff := func(name, host string) result {
		p.Helper()
		return p.runIn([]byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: "+name+"}, spec: {image: 'example.com/web:1', ports: [{name: http, containerPort: 8080}], routes: [{name: web, hostnames: ["+host+"]}]}}"),
			"diff", "-f", "-")
	}
	p.eventually("the webhooks to know the host name", func() bool { return diff("third", "a.example.com").code == 2 })
	const want = `error: the Application would be refused (Invalid): spec.routes[0].hostnames[0]: Invalid value: "a.example.com": belongs to Application default/first: choose another host name or path` + "\n"
	for _, name := range []string{"second", "third"} {
		if r := diff(name, "a.example.com"); r.code != 2 || r.stderr != want || r.stdout != "" {
			p.Errorf("%s: %+v\nwant %s", name, r, want)
		}
		if r := diff(name, "c.example.com"); r.code != 1 || r.stderr != "" || !strings.Contains(r.stdout, "Ingress/"+name) {
			p.Errorf("%s with a free host name: %+v", name, r)
		}
	}
}

// TestUndoOfWhatWaitsWarnsOfNothing: the pods are as an undo of what waits wants them, so the warning that it has no effect during the pause
// would contradict that.
func TestUndoOfWhatWaitsWarnsOfNothing(t *testing.T) {
	t.Parallel()
	p := &plugin{TB: t, namespace: metav1.NamespaceDefault, cluster: controlplane.ForTest(t)}
	p.cluster.InstallCRDs(t, "../../artifacts/crds")
	p.fairlead = versioned.NewForConfigOrDie(p.cluster.Config())
	p.control(func(o *app.Options) {
		o.Serving.WebhookBindAddress, o.Serving.WebhookURL = "127.0.0.1:0", "https://127.0.0.1:0"
	})
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "Ready")
	p.want(0, []string{"pause", "web"})
	const warns = "Warning: spec.paused: the pods stay as they are"
	p.eventually("the webhooks to warn", func() bool {
		return strings.Contains(p.run("set", "image", "web", "example.com/web:2", "--dry-run=server").stderr, warns)
	})
	if r := p.want(0, []string{"set", "image", "web", "example.com/web:2"}, "It waits while rollouts are paused."); !strings.HasPrefix(r.stderr, warns) {
		t.Errorf("set image does not warn: %q", r.stderr)
	}
	p.diffSaysPauseOnce()
	p.eventually("the image to wait", func() bool { return p.get("web").Status.Revision.Current == 2 && p.updated(kube) == 0 })
	for _, dryRun := range []string{"server", "none"} {
		r := p.want(0, []string{"undo", "web", "--dry-run=" + dryRun}, "  No pod is replaced, because all of them are of that revision already.\n")
		if r.stderr != "" {
			t.Errorf("undo with --dry-run=%s warns: %s", dryRun, r.stderr)
		}
	}
}

// diffSaysPauseOnce: the difference says what waits and which files do not, so the API server's warnings of it are left out.
func (p *plugin) diffSaysPauseOnce() {
	p.Helper()
	const (
		waits = "It waits while rollouts are paused."
		files = " ConfigMap files-config changes at once, and running pods see its new files within about a minute."
	)
	diff := func(name, spec string) result {
		p.Helper()
		return p.runIn([]byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: "+name+"}, spec: "+spec+"}"), "diff", "-f", "-")
	}
	p.create("files", "{image: example.com/web:1, replicas: 2, config: {mountPath: /etc/web, data: {a: '1'}}}")
	p.want(0, []string{"status", "files", "--watch", "--timeout=60s"}, "Ready")
	p.want(0, []string{"pause", "files"})
	for _, test := range []struct{ name, spec, want string }{
		{"web", "{image: example.com/web:3, replicas: 2, paused: true}", waits},
		{"files", "{image: example.com/web:1, replicas: 2, paused: true, config: {mountPath: /etc/web, data: {a: '2'}}}", waits + files},
	} {
		r := diff(test.name, test.spec)
		if r.code != 1 || r.stderr != "" || strings.Count(r.stdout, "paused.") != 1 || !strings.Contains(r.stdout, test.want+"\n") {
			p.Errorf("%+v, want %s", r, test.want)
		}
	}
}

// TestDiffInNoNamespace: the API server would refuse the file.
func TestDiffInNoNamespace(t *testing.T) {
	p := start(t)
	file := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web, namespace: nowhere}, spec: {image: 'example.com/web:1'}}")
	const want = `the Application would be refused (NamespaceNotFound): namespaces "nowhere" not found. Create the namespace first`
	if r := p.runIn(file, "--namespace=nowhere", "diff", "-f", "-"); r.code != 2 || !strings.Contains(r.stderr, want) || r.stdout != "" {
		t.Errorf("%+v, want %q", r, want)
	}
}

// TestDiffCreatesNamespace: kubectl applies the objects of a file in their order, so that a Namespace before the Application is there in time.
// Nothing runs in it yet, and the labels of the file choose the class.
func TestDiffCreatesNamespace(t *testing.T) {
	p := start(t)
	const (
		namespace   = "{apiVersion: v1, kind: Namespace, metadata: {name: nowhere, labels: {tier: gold}}}"
		application = "{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web, namespace: nowhere}, spec: {image: 'example.com/web:1', replicas: 2}}"
		want        = "nowhere/web: 2 pods are asked for.\n"
		note        = "\nNamespace nowhere does not exist yet; the files create it. Until then, the API server cannot be asked whether it would accept the Application, " +
			"so its policies, its quotas and the routes of other Applications were not checked: to have them checked, apply the Namespace first.\n"
	)
	diff := func(file string) result { return p.runIn([]byte(file), "--namespace=nowhere", "diff", "-f", "-") }
	if r := diff(namespace + "\n---\n" + application); r.code != 1 || !strings.HasPrefix(r.stdout, want) || !strings.HasSuffix(r.stdout, note) {
		t.Errorf("%+v, want %q and %q", r, want, note)
	}
	gold := &v1.ApplicationClass{
		ObjectMeta: metav1.ObjectMeta{Name: p.namespace},
		Spec:       v1.ApplicationClassSpec{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}},
	}
	classes := p.fairlead.AppsV1().ApplicationClasses()
	if _, err := classes.Create(t.Context(), gold, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := classes.Delete(context.Background(), gold.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	classed := strings.Replace(application, "spec: {", "spec: {className: "+gold.Name+", ", 1)
	if r := diff(namespace + "\n---\n" + classed); r.code != 1 || !strings.HasPrefix(r.stdout, want) {
		t.Errorf("with a class that selects the Namespace: %+v", r)
	}
	if r := diff(strings.Replace(namespace, "gold", "iron", 1) + "\n---\n" + classed); r.code == 1 || strings.HasPrefix(r.stdout, want) {
		t.Errorf("with a class that does not select the Namespace: %+v", r)
	}
	if r := diff(application + "\n---\n" + namespace); r.code != 2 || !strings.Contains(r.stderr, "(NamespaceNotFound)") || r.stdout != "" {
		t.Errorf("with the Namespace behind: %+v", r)
	}
}

// TestDiffOfForeignObjects: objects of the names of children exist, without the Application's label, so that nothing is created.
func TestDiffOfForeignObjects(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.leaveBehind("web")
	if _, err := kube.CoreV1().ServiceAccounts(p.namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	file := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:1', replicas: 2}}")
	r := p.runIn(file, "diff", "-f", "-")
	for _, want := range []string{
		p.namespace + "/web: no pod changes, because the Deployment does not belong to the Application.\n",
		"! Deployment/web  Blocked\n", "! ServiceAccount/web  Blocked\n", "+ PodDisruptionBudget/web  Create\n",
	} {
		if r.code != 1 || !strings.Contains(r.stdout, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}
