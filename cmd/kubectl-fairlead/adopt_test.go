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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	chartDeployment = `
metadata: {name: web, labels: {app: shop, app.kubernetes.io/managed-by: by-hand}}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers: [{name: shop, image: "example.com/shop:1", ports: [{name: http, containerPort: 8080}], tty: true}]
`
	chartService = `
metadata: {name: web}
spec: {selector: {app: shop}, ports: [{port: 80, targetPort: 8080}]}
`
)

// runs starts what a chart has, and returns its Deployment and the UIDs of its pods.
func (p *plugin) runs(kube kubernetes.Interface) (*appsv1.Deployment, []string) {
	p.Helper()
	deployment, service := &appsv1.Deployment{}, &corev1.Service{}
	for text, object := range map[string]any{chartDeployment: deployment, chartService: service} {
		if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
			p.Fatal(err)
		}
	}
	if _, err := kube.AppsV1().Deployments(p.namespace).Create(p.Context(), deployment, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	if _, err := kube.CoreV1().Services(p.namespace).Create(p.Context(), service, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	p.eventually("the chart's pods", func() bool {
		var err error
		if deployment, err = kube.AppsV1().Deployments(p.namespace).Get(p.Context(), "web", metav1.GetOptions{}); err != nil {
			p.Fatal(err)
		}
		return deployment.Status.AvailableReplicas == 2
	})
	return deployment, p.pods(kube)
}

// leaveBehind creates a Deployment of the name that no Application has.
func (p *plugin) leaveBehind(name string) {
	p.Helper()
	deployment := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict([]byte(chartDeployment), deployment); err != nil {
		p.Fatal(err)
	}
	deployment.Name = name
	if _, err := kubernetes.NewForConfigOrDie(p.cluster.Config()).AppsV1().Deployments(p.namespace).Create(p.Context(), deployment, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
}

// pods returns the UIDs of the pods that are not being deleted.
func (p *plugin) pods(kube kubernetes.Interface) []string {
	p.Helper()
	list, err := kube.CoreV1().Pods(p.namespace).List(p.Context(), metav1.ListOptions{})
	if err != nil {
		p.Fatal(err)
	}
	var uids []string
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			uids = append(uids, string(list.Items[i].UID))
		}
	}
	slices.Sort(uids)
	return uids
}

// TestAdopt adopts a Deployment and a Service, takes that back, adopts them again, and replaces the pods.
func TestAdopt(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	before, pods := p.runs(kube)
	accept := []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}
	name := p.namespace + "/web: "

	if r := p.want(2, []string{"adopt", "web", "--harden"}, name+"2 pods will be replaced once you release them", ".spec.containers[web].tty: removed true"); !strings.Contains(r.stderr, "--accept='.spec.containers[web].tty'") {
		t.Errorf("no advice in %q", r.stderr)
	}
	if r := p.want(2, []string{"adopt", "web"}); !strings.Contains(r.stderr, "the pods may have more privileges than the platform allows (spec.podSecurityContext.runAsNonRoot): pass --harden to apply Fairlead's restricted defaults from the first rollout on") {
		t.Errorf("no advice in %q", r.stderr)
	}
	const unneeded = "  ! --accept='.spec.hostNetwork' changes nothing: nothing is lost there.\n"
	p.want(0, append(slices.Clone(accept), "--dry-run=client", "--accept=.spec.hostNetwork"), unneeded)
	p.want(0, append(accept, "--dry-run=client"), ".spec.enableServiceLinks", "adoptionPolicy: Consented", "servicePortName: \"\"")
	p.want(0, append(accept, "--dry-run=server"), "  ~ container shop becomes web", "not written (server dry run)")
	if r := p.want(0, append(accept, "--dry-run=server", "-o", "name")); r.stdout != "application.apps.fairlead.dev/web\n" || !strings.Contains(r.stderr, "2 pods will be replaced") {
		t.Errorf("-o name prints %q, and %q", r.stdout, r.stderr)
	}
	p.want(2, []string{"adopt", "web", "--rollout"})
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("a dry run wrote: %v", err)
	}

	held := []string{"saved in Secret web-before-adoption", "The pods run as before the adoption.", "adopt web --rollout"}
	p.want(0, accept, held...)
	// The pods lack the label of the Application, and are shown nevertheless.
	if r := p.run("status", "web"); !strings.Contains(r.stdout, "Pods         2 Ready") {
		t.Errorf("no pods in %q", r.stdout)
	}
	// The controller knows it once the Deployment has observed the adoption.
	p.eventually("the image that runs", func() bool {
		return strings.Contains(p.run("status", "web", "-o", "json").stdout, `"runningImage": "example.com/shop:1"`)
	})
	p.want(0, accept, "its adoption goes on", held[1])
	p.want(0, []string{"resume", "web", "--dry-run=client"}, "rollouts go on", "All 2 pods are replaced, because of ", "10 more: a paused rollout goes on.")
	p.want(0, []string{"adopt", "web", "--abort", "--dry-run=client"}, "would be deleted")
	p.want(0, []string{"eject", "web", "--restore", "--dry-run=client"}, "become what they were before the adoption: no pod is replaced.")
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced")
	restored, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Spec, restored.Spec); diff != "" {
		t.Errorf("the spec after --abort (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before.Labels, restored.Labels); diff != "" {
		t.Errorf("the labels after --abort (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before.Annotations, restored.Annotations); diff != "" {
		t.Errorf("the annotations after --abort (-before +after):\n%s", diff)
	}
	if accounts, err := kube.CoreV1().ServiceAccounts(p.namespace).Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("--abort left %v behind: %v", accounts, err)
	}
	p.eventually("the Deployment controller to observe that", func() bool {
		live, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && live.Status.ObservedGeneration == live.Generation && live.Status.UpdatedReplicas == 2
	})
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}

	p.want(0, accept, held...)
	if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
		t.Errorf("pods were replaced:\n%s", diff)
	}
	p.want(0, []string{"adopt", "web", "--rollout", "--dry-run=server"}, name+"all 2 pods will be replaced.", "not written")
	const noContainer = "  ! --accept='.spec.containers[spy]' changes nothing: another client added no such container.\n"
	p.want(0, []string{"adopt", "web", "--rollout", "--accept=.spec.containers[spy]"}, name+"all 2 pods will be replaced.", noContainer, "written")
	p.eventually("the condition Adopted", func() bool {
		for _, condition := range p.get("web").Status.Conditions {
			if condition.Type == v1.ConditionAdopted {
				return condition.Status == metav1.ConditionTrue
			}
		}
		return false
	})
	for _, uid := range p.pods(kube) {
		if slices.Contains(pods, uid) {
			t.Errorf("the pod %s is an old one", uid)
		}
	}
	p.want(0, accept, name+"the Application has adopted the Deployment already.\n")
	released := "or to do that, run kubectl fairlead -n " + p.namespace + " eject web --restore\n"
	if r := p.want(2, []string{"adopt", "web", "--abort"}); !strings.HasSuffix(r.stderr, released) {
		t.Errorf("%q, want the end %q", r.stderr, released)
	}
	p.want(0, []string{"status", "web"}, "Ready")
}

// TestAdoptUnfinished: a rollout that the user paused is to end before the adoption. One of the Application that is stuck leaves the pods from
// before, and so does a restoration.
func TestAdoptUnfinished(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	deployments, applications := kube.AppsV1().Deployments(p.namespace), p.fairlead.AppsV1().Applications(p.namespace)
	patch := func(spec string) {
		t.Helper()
		if _, err := deployments.Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	complete := func(replicas, updated int32) {
		t.Helper()
		p.eventually("the rollout", func() bool {
			live, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
			return err == nil && live.Status.ObservedGeneration == live.Generation && live.Status.Replicas == replicas && live.Status.UpdatedReplicas == updated &&
				live.Status.AvailableReplicas == 2
		})
	}
	accept := []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}
	patch(`{"paused":true,"template":{"spec":{"containers":[{"name":"shop","image":"example.com/shop:2"}]}}}`)
	complete(2, 0)
	paused := "a rollout of the Deployment web is paused, and no Application adopts it before the rollout is complete. " +
		"Let its rollout go on, which replaces pods: kubectl -n " + p.namespace + " rollout resume deployment/web. Then run the command again\n"
	for _, args := range [][]string{append(slices.Clone(accept), "--dry-run=client"), accept} {
		if r := p.want(2, args); !strings.HasSuffix(r.stderr, "error: "+paused) {
			t.Errorf("%q, want the end %q", r.stderr, paused)
		}
	}
	if _, err := applications.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("the refusal wrote: %v", err)
	}
	patch(`{"paused":false}`)
	complete(2, 2)
	p.want(0, accept, "The pods run as before the adoption.")
	if _, err := applications.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"nodeSelector":{"no":"such"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"adopt", "web", "--rollout"})
	complete(3, 1)
	p.want(0, []string{"eject", "web", "--restore"}, "become what they were before the adoption: the 2 pods from before stay, and the newer one ends.\n",
		"Once the newer pods are gone, delete them: ")
	complete(2, 2)
}

// TestAdoptInvalid: only the controller knows that it serves no webhooks, and so that no Application may name an account. The
// user learns it at once.
func TestAdoptInvalid(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	if _, err := kube.CoreV1().ServiceAccounts(p.namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.runs(kube)
	patch := []byte(`{"spec":{"template":{"spec":{"serviceAccountName":"shop"}}}}`)
	if _, err := kube.AppsV1().Deployments(p.namespace).Patch(t.Context(), "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the pods of the account", func() bool {
		live := p.deployment(kube)
		return live.Status.UpdatedReplicas == 2 && live.Status.AvailableReplicas == 2 && live.Status.Replicas == 2
	})
	r := p.want(2, []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"})
	if !strings.Contains(r.stderr, "the controller refuses the Application, and nothing is adopted: spec.serviceAccount.name: Forbidden") {
		t.Errorf("the error is %q", r.stderr)
	}
	p.want(0, []string{"adopt", "web", "--abort"}, "taken back")
}

// TestAdoptRefusesAtOnce: the marks of a deployment tool and all fields that an Application cannot express are in one error.
func TestAdoptRefusesAtOnce(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.leaveBehind("web")
	patch := []byte(`{"metadata":{"annotations":{"argocd.argoproj.io/tracking-id":"web"}},"spec":{"template":{"spec":{"hostNetwork":true,"dnsPolicy":"Default"}}}}`)
	if _, err := kube.AppsV1().Deployments(p.namespace).Patch(t.Context(), "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = "error: nothing was written, for 2 reasons:\n" +
		"- Deployment web cannot be adopted because of metadata.annotations[argocd.argoproj.io/tracking-id]: " +
		"a deployment tool manages it; take it out of that tool, then remove the mark\n" +
		"- .spec.template.spec.hostNetwork: an Application has no such field; .spec.template.spec.dnsPolicy: an Application has no such field. " +
		"So this Deployment cannot be adopted as it is. If its pods can do without that, an Application can replace it without stopping them: " +
		"see 'Move an existing Deployment' in docs/applications.md\n"
	if r := p.want(2, []string{"adopt", "web", "--dry-run=client"}); r.stderr != want {
		t.Errorf("%q, want %q", r.stderr, want)
	}
}

// TestAdoptExistingRefusesAtOnce: all that is in the way of an Application that exists is in one error.
func TestAdoptExistingRefusesAtOnce(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	patch := []byte(`{"metadata":{"annotations":{"argocd.argoproj.io/tracking-id":"web"}}}`)
	if _, err := kube.AppsV1().Deployments(p.namespace).Patch(t.Context(), "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if _, err := kube.CoreV1().ServiceAccounts(p.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.create("web", "{image: example.com/shop:1, paused: true, reconcilePolicy: Suspend, podMetadata: {labels: {app: shop}}, ports: [{name: http, containerPort: 8080, servicePort: 81}]}")
	want := "error: nothing was written, for 5 reasons:\n" +
		"- the Application web exists, and its adoptionPolicy is not Consented: delete it, and kubectl fairlead -n " + p.namespace + " adopt web writes one that fits the Deployment; " +
		"or set adoptionPolicy: Consented in it, and run this command again\n" +
		"- Deployment web cannot be adopted because of metadata.annotations[argocd.argoproj.io/tracking-id]: " +
		"a deployment tool manages it; take it out of that tool, then remove the mark\n" +
		"- Service web cannot be adopted because of spec.ports[80/TCP]: spec.ports of the Application has no such servicePort. " +
		"Correct the Application; or delete it, and kubectl fairlead -n " + p.namespace + " adopt web --harden writes one that fits\n" +
		"- ServiceAccount web exists already, and the Application would create one of its own: replace it by one of another name, or delete it if nothing needs it. " +
		"The pods of the Deployment do not run as ServiceAccount web\n" +
		"- the pods would lose what the Application does not have; if they can, pass --accept='.spec.containers[web].tty'\n"
	if r := p.want(2, []string{"adopt", "web", "--existing"}, "  - .spec.containers[web].tty: removed true\n"); r.stderr != want {
		t.Errorf("%s, want %s", r.stderr, want)
	}
}

// TestNoAdoptionOfExpressions: a selector that cannot stay excludes every adoption, and nothing advises one.
func TestNoAdoptionOfExpressions(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	deployment := &appsv1.Deployment{}
	text := strings.Replace(chartDeployment, "{matchLabels: {app: shop}}", "{matchExpressions: [{key: app, operator: In, values: [shop]}]}", 1)
	if err := yaml.UnmarshalStrict([]byte(text), deployment); err != nil {
		t.Fatal(err)
	}
	if _, err := kube.AppsV1().Deployments(p.namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const refused = "error: .spec.selector.matchExpressions: only matchLabels can stay. So this Deployment cannot be adopted as it is. " +
		"If its pods can do without that, an Application can replace it without stopping them: see 'Move an existing Deployment' in docs/applications.md\n"
	if r := p.want(2, []string{"adopt", "web", "--dry-run=client"}); r.stderr != refused {
		t.Errorf("%q, want %q", r.stderr, refused)
	}
	const makeWay = "delete it with --cascade=orphan, which keeps its pods, or give the Application another name"
	p.create("web", "{image: example.com/shop:1}")
	for _, test := range []struct{ policy, message string }{
		{"Never", "Deployment web exists and does not belong to the Application; " + makeWay},
		{"Consented", "Deployment web cannot be adopted because of spec.selector.matchExpressions: only matchLabels can stay; " + makeWay},
	} {
		patch := []byte(`{"spec":{"paused":true,"adoptionPolicy":"` + test.policy + `"}}`)
		if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		p.eventually(test.message, func() bool {
			ready := meta.FindStatusCondition(p.get("web").Status.Conditions, v1.ConditionReady)
			return ready != nil && strings.HasPrefix(ready.Message, test.message)
		})
		if r := p.want(2, []string{"adopt", "web", "--existing"}); r.stderr != refused {
			t.Errorf("%s: %q, want %q", test.policy, r.stderr, refused)
		}
		r := p.want(1, []string{"why", "web"}, "spec.selector.matchExpressions: only matchLabels can stay, so the Deployment cannot be adopted\n",
			"   → Replace the Deployment without stopping its pods: see 'Move an existing Deployment' in docs/applications.md\n")
		if strings.Contains(r.stdout, "--existing") || strings.Contains(strings.ToLower(r.stdout), "consent to") {
			t.Errorf("%s: what misleads:\n%s", test.policy, r.stdout)
		}
	}
}

// TestAdoptBesideAnotherBackup: the backup of an earlier Deployment is in the way, and is found before anything is written.
func TestAdoptBesideAnotherBackup(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	backup := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web-before-adoption"}, StringData: map[string]string{"deployment.json": `{"metadata":{"name":"web","uid":"former"}}`}}
	if _, err := kube.CoreV1().Secrets(p.namespace).Create(t.Context(), backup, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "error: the Secret web-before-adoption has the objects of an earlier adoption. Keep a copy, since without it they cannot be restored; then run kubectl -n " + p.namespace +
		" delete secret web-before-adoption, and this command again\n"
	accept := []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}
	for _, args := range [][]string{accept, append(slices.Clone(accept), "--dry-run=client")} {
		if r := p.want(2, args); r.stderr != want {
			t.Errorf("%q, want %q", r.stderr, want)
		}
	}
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Application was created: %v", err)
	}

	// One of the same Deployment, which was interrupted after the consent.
	secrets := kube.CoreV1().Secrets(p.namespace)
	deployment, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	backup.StringData["deployment.json"] = `{"metadata":{"name":"web","uid":"` + string(deployment.UID) + `","generation":99}}`
	if _, err := secrets.Update(t.Context(), backup, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	interrupted := "error: the Secret web-before-adoption is left from an earlier adoption of this Deployment: run kubectl fairlead -n " + p.namespace + " adopt web --abort to take back what is left of that, then this command again\n"
	if r := p.want(2, accept); r.stderr != interrupted {
		t.Errorf("%q, want %q", r.stderr, interrupted)
	}
}
