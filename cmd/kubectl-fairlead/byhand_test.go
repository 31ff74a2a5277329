// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// byHand is the spec of the Application that adopts by hand what runs.
const byHand = `{image: example.com/shop:1, replicas: 2, adoptionPolicy: Consented, reconcilePolicy: Observe, paused: true, deletionPolicy: Orphan,
  ports: [{name: http, containerPort: 8080, servicePort: 80, servicePortName: ""}], podMetadata: {labels: {app: shop}}, disruptionBudget: {mode: Disabled}}`

// adoptByHand adopts what runs as docs/guides/migrate.md does without the plugin, up to the point where the pods could be replaced.
func (p *plugin) adoptByHand(kube kubernetes.Interface) {
	p.Helper()
	p.consentByHand(kube, byHand)
	p.eventually("the held pods", func() bool {
		adopted := meta.FindStatusCondition(p.get("web").Status.Conditions, v1.ConditionAdopted)
		return adopted != nil && adopted.Reason == v1.ReasonPodsHeld
	})
}

// consentByHand creates the Application, consents to the adoption by it, and lets it adopt.
func (p *plugin) consentByHand(kube kubernetes.Interface, spec string) {
	p.Helper()
	p.consentTo(kube, p.create("web", spec))
	enforce := []byte(`{"spec":{"reconcilePolicy":"Enforce"}}`)
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(p.Context(), "web", types.MergePatchType, enforce, metav1.PatchOptions{}); err != nil {
		p.Fatal(err)
	}
}

// consentTo consents to the adoption by the Application.
func (p *plugin) consentTo(kube kubernetes.Interface, application *v1.Application) {
	p.Helper()
	p.mark(kube, fmt.Sprintf(`,"annotations":{%q:%q}`, v1.AnnotationAdoptableBy, application.UID))
}

// mark gives the Deployment and the Service the labels without which the controller does not see them, and more of their metadata.
func (p *plugin) mark(kube kubernetes.Interface, more string) {
	p.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q,%q:"web"}%s}}`, v1.LabelManagedBy, v1.ManagedBy, v1.LabelApplication, more)
	if _, err := kube.AppsV1().Deployments(p.namespace).Patch(p.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		p.Fatal(err)
	}
	if _, err := kube.CoreV1().Services(p.namespace).Patch(p.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		p.Fatal(err)
	}
}

// TestWhyOfUnlabelledObjects: under Observe the controller says that a ServiceAccount is missing which it does not see, and why knows better.
func TestWhyOfUnlabelledObjects(t *testing.T) {
	p := start(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	if _, err := kube.CoreV1().ServiceAccounts(p.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	if _, err := kube.CoreV1().Services(p.namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.create("web", "{image: 'registry.example.com/web:1', reconcilePolicy: Observe, ports: [{name: http, containerPort: 8080, servicePort: 80}]}")
	p.eventually("the Application to be observed", func() bool { return p.get("web").Status.ObservedGeneration == 1 })
	r := p.run("why", "web")
	const want = "Application/web status.resources[ServiceAccount/web]: It exists without the label apps.fairlead.dev/application=web, so the controller does not see it.\n"
	const first = "   → First follow the advice about ServiceAccount web and Service web above. To carry the spec out before would end in a conflict.\n"
	if !strings.Contains(r.stdout, want) || !strings.Contains(r.stdout, first) {
		t.Errorf("no %q or %q in\n%s%s", want, first, r.stdout, r.stderr)
	}
	if strings.Contains(r.stdout, "resume") || strings.Contains(r.stdout, "adopt") {
		t.Errorf("resume would end in a conflict, and there is no Deployment to adopt:\n%s", r.stdout)
	}
	p.want(0, []string{"tree", "web"}, "It exists, and is not the Application's.")
}

// TestWhyOfSeveralConflicts: a ServiceAccount in the way of the Deployment does not hide that one of this name runs, which can be adopted.
func TestWhyOfSeveralConflicts(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if _, err := kube.CoreV1().ServiceAccounts(p.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.create("web", "{image: 'registry.example.com/web:1', ports: [{name: http, containerPort: 8080}]}")
	p.eventually("the conflict", func() bool { return strings.Contains(p.run("why", "web").stdout, "ServiceAccount web exists") })
	r := p.run("why", "web")
	for _, want := range []string{
		"Deployment web exists and does not belong to this Application",
		"   → Let an Application adopt the Deployment, which replaces no pod until you say so; the command names what needs your --accept. The short way: delete this Application, ",
		"   → The adoption of the Deployment takes the Service over too.\n",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s%s", want, r.stdout, r.stderr)
		}
	}
}

// TestWhyBeforeTheConsent: the Deployment exists, and the next step is the consent: nothing that would replace its pods. After the consent
// it is to enforce the spec.
func TestWhyBeforeTheConsent(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	application := p.create("web", byHand)
	p.eventually("the Application to be observed", func() bool { return p.get("web").Status.ObservedGeneration == 1 })
	r := p.run("why", "web")
	for _, want := range []string{
		"Application/web status.resources[Deployment/web]: It exists without the label apps.fairlead.dev/application=web, so the controller does not see it.\n",
		"   → Consent to the adoption, which replaces no pod until you say so; the command names what needs your --accept: kubectl fairlead -n " + p.namespace + " adopt web --existing\n",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	if strings.Contains(r.stdout, "resume") || strings.Contains(r.stdout, "[Deployment/web]: It is missing") {
		t.Errorf("what misleads:\n%s", r.stdout)
	}

	existing := "run kubectl fairlead -n " + p.namespace + " adopt web --existing"
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"adopt", "web", "--rollout"}, "error: the Deployment is not adopted yet: " + existing + "\n"},
		{[]string{"adopt", "web"}, "error: the Application exists already, and this command would not write it: " + existing + " to consent to it as it is\n"},
	} {
		if r := p.want(2, test.args); r.stderr != test.want {
			t.Errorf("%q: %q, want %q", test.args, r.stderr, test.want)
		}
	}

	// Once the labels are there, the controller sees the Deployment. To resume would end the pause that the adoption needs.
	p.mark(kube, "")
	p.eventually("the conflict", func() bool {
		return strings.Contains(p.run("why", "web").stdout, "Deployment web exists and has no consent")
	})
	p.want(1, []string{"why", "web"}, "   → First follow the advice about the Deployment above. The Application is not ready before it owns the Deployment.\n")
	p.want(0, []string{"resume", "web", "--dry-run=client"}, "  No pod changes, because the Deployment does not belong to the Application. ")

	p.consentTo(kube, application)
	p.eventually("the consent to be seen", func() bool { return strings.Contains(p.run("why", "web").stdout, "It would be adopted.") })
	r = p.want(1, []string{"why", "web"}, "   → Let the Application adopt it, which replaces no pod while rollouts are paused: kubectl -n "+p.namespace+
		` patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"reconcilePolicy":"Enforce"}}'`+"\n")
	if strings.Contains(r.stdout, "--existing") || strings.Contains(r.stdout, "resume") {
		t.Errorf("what misleads:\n%s", r.stdout)
	}
}

// TestAdoptedByHand: nothing saved what the Deployment was, so no command says that it takes the adoption back.
func TestAdoptedByHand(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	_, pods := p.runs(kube)
	p.adoptByHand(kube)
	sets, err := kube.AppsV1().ReplicaSets(p.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(sets.Items) != 1 {
		t.Fatalf("%d ReplicaSets, %v; want the one from before", len(sets.Items), err)
	}
	eject := "kubectl fairlead -n " + p.namespace + " eject web\n"
	const user = "reader"
	p.readsNoSecrets(kube, user)
	for _, args := range [][]string{{"why", "web"}, {"why", "web", "--as=" + user}} {
		r := p.want(1, args, "   → Replace the pods: kubectl fairlead -n "+p.namespace+" adopt web --rollout\n",
			"   → Or delete the Application alone, which replaces no pod. Nothing saved what the Deployment was: "+eject)
		if strings.Contains(r.stdout, "--abort") {
			t.Errorf("%q advises what fails:\n%s", args, r.stdout)
		}
	}
	r := p.want(0, []string{"adopt", "web", "--harden"}, "  Replace the pods:             kubectl fairlead -n "+p.namespace+" adopt web --rollout\n  Delete the Application alone: "+eject)
	if strings.Contains(r.stdout, "adopt web --abort") {
		t.Errorf("it advises what fails:\n%s", r.stdout)
	}
	want := "error: there is no Secret web-before-adoption: the adoption was made by hand, or the Secret was deleted. So nothing says what the Deployment was. " +
		"The ReplicaSet " + sets.Items[0].Name + " has the pod template that runs. To delete the Application alone, which replaces no pod, run " + eject
	for _, args := range [][]string{{"adopt", "web", "--abort"}, {"adopt", "web", "--abort", "--dry-run=client"}} {
		if r := p.want(2, args); r.stderr != want {
			t.Errorf("%q: %q, want %q", args, r.stderr, want)
		}
	}
	p.want(0, []string{"eject", "web"}, "The Deployment stays paused.", "  The Service keeps the label apps.fairlead.dev/application, by which a ServiceMonitor finds it.\n", "ejected.")
	service, err := kube.CoreV1().Services(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// It never belonged to the Application, but had the consent.
	if diff := cmp.Diff(map[string]string{v1.LabelApplication: "web"}, service.Labels); diff != "" || len(service.Annotations) > 0 {
		t.Errorf("the Service keeps other marks: %v, %s", service.Annotations, diff)
	}
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}

// TestWhyOffersAbort: the plugin saved what the Deployment was, so why says how to take the adoption back, until the Secret is deleted.
// Without permission to read Secrets, that is not to be known.
func TestWhyOffersAbort(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	p.want(0, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"})
	const user = "reader"
	p.readsNoSecrets(kube, user)
	abort := "   → Or take the adoption back: kubectl fairlead -n " + p.namespace + " adopt web --abort\n"
	p.want(1, []string{"why", "web"}, abort)
	p.want(1, []string{"why", "web", "--as=" + user}, abort)
	if err := kube.CoreV1().Secrets(p.namespace).Delete(t.Context(), "web-before-adoption", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.want(1, []string{"why", "web"}, "Nothing saved what the Deployment was: kubectl fairlead -n "+p.namespace+" eject web\n")
	p.want(1, []string{"why", "web", "--as=" + user}, abort)
}

// TestAbortBesideAnEarlierBackup: the Secret of an earlier adoption says nothing about one by hand, whichever way it was left behind.
func TestAbortBesideAnEarlierBackup(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	_, pods := p.runs(kube)
	adopt := []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}
	p.want(0, adopt)
	backup, saved := p.backup(kube)
	p.want(0, []string{"eject", "web", "--restore"}, "no pod is replaced.", "ejected.")
	if err := kube.CoreV1().ServiceAccounts(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	earlier := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: backup.Name}, Data: map[string][]byte{key: saved}}
	if _, err := kube.CoreV1().Secrets(p.namespace).Create(t.Context(), earlier, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.adoptByHand(kube)
	p.want(1, []string{"why", "web"}, "Nothing saved what the Deployment was: kubectl fairlead -n "+p.namespace+" eject web\n")
	r := p.want(2, []string{"adopt", "web", "--abort"})
	for _, want := range []string{
		"error: the Secret web-before-adoption is of an earlier adoption, because the Deployment does not have its digest. This adoption was made by hand. " +
			"So nothing says what the Deployment was. The ReplicaSet web-", " has the pod template that runs. To delete the Application alone, which replaces no pod, run kubectl fairlead -n " + p.namespace + " eject web\n",
	} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("%q, want %q", r.stderr, want)
		}
	}
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}

// TestAbortStartsNoOlderPods: the Secret and its digest stay after eject, and so does the ReplicaSet from before, without pods. After an
// adoption by hand, --abort would replace the pods by older ones.
func TestAbortStartsNoOlderPods(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	p.want(0, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"})
	p.want(0, []string{"adopt", "web", "--rollout"})
	p.eventually("the condition Adopted", func() bool { return meta.IsStatusConditionTrue(p.get("web").Status.Conditions, v1.ConditionAdopted) })
	p.want(0, []string{"eject", "web"}, "The Secret web-before-adoption stays too", "ejected.")
	const takeBack = "error: the Deployment was left behind by an earlier Application: take all of that back, as docs/guides/take-back.md says. " +
		"To adopt it like one that never was an Application's: the Secret web-before-adoption has the objects of an earlier adoption. Keep a copy, since without it they cannot be restored; then run"
	if r := p.want(2, []string{"adopt", "web", "--harden"}); !strings.HasPrefix(r.stderr, takeBack) {
		t.Errorf("%q, want %q", r.stderr, takeBack)
	}
	if err := kube.CoreV1().ServiceAccounts(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	pods := p.pods(kube)
	p.consentByHand(kube, strings.Replace(byHand, "{image", "{env: [{name: COLOR, value: blue}], image", 1))
	p.eventually("the adoption", func() bool {
		live := p.deployment(kube)
		return len(live.Spec.Template.Spec.Containers[0].Env) == 1 && live.Spec.Paused && live.Status.UpdatedReplicas == 0
	})
	const want = "error: the Secret web-before-adoption has another pod template than the pods that run, so restoring it would replace them"
	if r := p.want(2, []string{"adopt", "web", "--abort"}); !strings.HasPrefix(r.stderr, want) {
		t.Errorf("%q, want %q", r.stderr, want)
	}
	p.get("web") // It is still there.
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
}

// TestAbortKeepsTheUsersApplication: a user wrote the Application, and nothing was adopted, so it is not --abort's to delete. One that the plugin
// wrote in a run that was interrupted before it saved anything is.
func TestAbortKeepsTheUsersApplication(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	p.create("web", byHand)
	p.want(0, []string{"scale", "web", "--replicas=3"}) // The plugin changes what it has not written.
	want := "error: there is nothing to take back: the Application web has adopted nothing. This command did not write it, so it stays. " +
		"To delete it, run kubectl -n " + p.namespace + " delete applications.apps.fairlead.dev web\n"
	for _, args := range [][]string{{"adopt", "web", "--abort", "--dry-run=client"}, {"adopt", "web", "--abort"}} {
		if r := p.want(2, args); r.stderr != want {
			t.Errorf("%q: %q, want %q", args, r.stderr, want)
		}
	}
	if p.get("web").DeletionTimestamp != nil {
		t.Error("the Application is being deleted")
	}
	if err := p.fairlead.AppsV1().Applications(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the end of the Application", func() bool {
		return strings.HasSuffix(p.run("adopt", "web", "--abort").stdout, "/web: there is nothing to take back.\n")
	})

	p.stop() // So the run ends after the Application, and before the consent.
	proxy := p.faultyProxy()
	if r, write := proxy.run(p, forbidden, 2, "adopt", "web", "--harden", "--accept=.spec.containers[web].tty"); r.code == 0 || !strings.Contains(write, "secrets") {
		t.Fatalf("it failed at %q: %+v", write, r)
	}
	p.get("web")
	p.want(0, []string{"adopt", "web", "--abort"}, p.namespace+"/web: the Application is deleted, and nothing was adopted; no pod was replaced.\n")
}

// TestAbortAwaitsThePromise: a user has just set deletionPolicy to Orphan, as --abort advised, and no controller has seen that. The deletion
// of the Application would delete the Deployment.
func TestAbortAwaitsThePromise(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	p.create("web", strings.Replace(byHand, "deletionPolicy: Orphan,", "", 1))
	patch := "kubectl -n " + p.namespace + ` patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"deletionPolicy":"Orphan"}}'`
	p.want(0, []string{"adopt", "web", "--existing", "--accept=.spec.containers[web].tty"}, "The pods run as before the adoption.",
		"because its deletionPolicy is not Orphan. To take the adoption back, first run "+patch+"\n")
	advice := "error: the deletionPolicy of the Application is not Orphan, so its deletion would delete the Deployment too: run " + patch + ", and this command again\n"
	if r := p.want(2, []string{"adopt", "web", "--abort"}); r.stderr != advice {
		t.Errorf("%q, want %q", r.stderr, advice)
	}
	p.stop()
	orphan := []byte(`{"spec":{"deletionPolicy":"Orphan"}}`)
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, orphan, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = "error: delete the Application: the controller has not promised yet that the Deployment stays, so nothing was deleted: see 'kubectl fairlead doctor', and run the command again\n"
	if r := p.want(2, []string{"adopt", "web", "--abort"}); r.stderr != want {
		t.Errorf("%q, want %q", r.stderr, want)
	}
	if p.get("web").DeletionTimestamp != nil {
		t.Error("the Application is being deleted")
	}
	p.control()
	p.eventually("the promise", func() bool { return slices.Contains(p.get("web").Finalizers, v1.FinalizerOrphan) })
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced")
	p.deployment(kube) // It is still there.
}
