// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestAdoptAnnouncesOthers: the default class has a NetworkPolicy, which will part the pods from their clients. Every run until then says so,
// and each object appears when that was announced. The cluster is its own: the class would decide about the Applications of other tests.
func TestAdoptAnnouncesOthers(t *testing.T) {
	t.Parallel()
	p := &plugin{TB: t, namespace: metav1.NamespaceDefault, cluster: controlplane.ForTest(t)}
	p.cluster.InstallCRDs(t, "../../artifacts/crds")
	p.fairlead = versioned.NewForConfigOrDie(p.cluster.Config())
	strict := &v1.ApplicationClass{
		ObjectMeta: metav1.ObjectMeta{Name: "strict", Annotations: map[string]string{v1.AnnotationDefaultClass: "true"}},
		Spec:       v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{NetworkPolicy: &v1.NetworkPolicy{}}},
	}
	if _, err := p.fairlead.AppsV1().ApplicationClasses().Create(t.Context(), strict, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.control()
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	policyExists := func() bool {
		t.Helper()
		_, err := kube.NetworkingV1().NetworkPolicies(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		return err == nil
	}

	const registry, bound = "registry", "reader"
	p.eventually("the ServiceAccount default", func() bool {
		account, err := kube.CoreV1().ServiceAccounts(p.namespace).Get(t.Context(), "default", metav1.GetOptions{})
		if err != nil {
			return false
		}
		account.AutomountServiceAccountToken = new(false)
		account.ImagePullSecrets = []corev1.LocalObjectReference{{Name: registry}}
		_, err = kube.CoreV1().ServiceAccounts(p.namespace).Update(t.Context(), account, metav1.UpdateOptions{})
		return err == nil
	})
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: bound}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "default", Namespace: p.namespace}},
	}
	if _, err := kube.RbacV1().RoleBindings(p.namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	everywhere := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "nodes"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: binding.Subjects,
	}
	if _, err := kube.RbacV1().ClusterRoleBindings().Create(t.Context(), everywhere, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	const (
		left = "  The pods will run as ServiceAccount web of the Application, not as default. spec.imagePullSecrets has the pull Secrets of that account: registry. " +
			"The pods lose what RoleBinding reader and ClusterRoleBinding nodes give to that account: grant it to ServiceAccount web before you release the pods.\n"
		policy = "  Also created, once every pod is replaced: NetworkPolicy web. From then on, it restricts the connections to and from the pods. " +
			"It comes from class strict, because the Application does not say what it needs: set spec.networkPolicy before you release the pods.\n"
		account = "  Also created, at the adoption: ServiceAccount web.\n"
		service = "  The Service web will change once every pod is replaced: the selector app=shop becomes apps.fairlead.dev/application=web.\n"
	)
	adopt := []string{"adopt", "web", "--harden"}
	p.want(2, adopt, policy+account+service) // It lacks --accept.
	adopt = append(adopt, "--accept=.spec.containers[web].tty")
	p.want(0, append(slices.Clone(adopt), "--dry-run=client"), policy+account+service, left, "  imagePullSecrets:\n  - name: registry\n", "  serviceAccount:\n    automountToken: false\n")
	p.want(0, append(slices.Clone(adopt), "--dry-run=server"), policy+account+service)
	p.want(0, adopt, policy+account+service, "The pods run as before the adoption.")
	if _, err := kube.CoreV1().ServiceAccounts(p.namespace).Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Errorf("after the adoption: %v", err)
	}
	if policyExists() {
		t.Error("the NetworkPolicy exists before the rollout")
	}

	for _, flag := range []string{"--dry-run=client", "--dry-run=server", "--dry-run=none"} {
		r := p.want(0, []string{"adopt", "web", "--rollout", flag}, p.namespace+"/web: all 2 pods will be replaced.\n"+policy+service)
		if strings.Contains(r.stdout, "ServiceAccount") || r.stderr != "" {
			t.Errorf("%s: %q, %q", flag, r.stdout, r.stderr)
		}
	}
	p.eventually("the condition Adopted", func() bool { return meta.IsStatusConditionTrue(p.get("web").Status.Conditions, v1.ConditionAdopted) })
	p.eventually("the NetworkPolicy", policyExists)
}

// TestAdoptIntoClass: where the platform requires a class and has no default one, the user learns how to name one, and names it.
func TestAdoptIntoClass(t *testing.T) {
	t.Parallel()
	p := &plugin{TB: t, namespace: metav1.NamespaceDefault, cluster: controlplane.ForTest(t)}
	p.cluster.InstallCRDs(t, "../../artifacts/crds")
	p.fairlead = versioned.NewForConfigOrDie(p.cluster.Config())
	gold := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}}
	gold, err := p.fairlead.AppsV1().ApplicationClasses().Create(t.Context(), gold, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.control(func(o *app.Options) {
		o.RequireClass = true
		o.Serving.WebhookBindAddress, o.Serving.WebhookURL = "127.0.0.1:0", "https://127.0.0.1:0"
	})
	p.runs(kubernetes.NewForConfigOrDie(p.cluster.Config()))
	adopt := []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}
	const advice = `spec.className: Required value: no default ApplicationClass selects namespace "default": name a class that does. ` +
		"Name a class with --class=NAME: 'kubectl fairlead classes' lists them\n"
	p.eventually("the webhooks to refuse", func() bool {
		return strings.HasSuffix(p.run(append(slices.Clone(adopt), "--dry-run=server")...).stderr, advice)
	})
	if r := p.want(2, adopt); !strings.HasSuffix(r.stderr, advice) {
		t.Errorf("%q, want the end %q", r.stderr, advice)
	}
	if r := p.want(2, append(slices.Clone(adopt), "--class=silver")); !strings.Contains(r.stderr, `there is no ApplicationClass of this name`) {
		t.Errorf("of a class that does not exist: %q", r.stderr)
	}
	if r := p.want(2, append(slices.Clone(adopt), "--class=gold", "--existing")); !strings.Contains(r.stderr, "pass --class or --existing, but not both: ") {
		t.Errorf("with both flags: %q", r.stderr)
	}
	p.want(0, []string{"__complete", "adopt", "web", "--class", "g"}, "gold\n")
	p.want(0, append(slices.Clone(adopt), "--class=gold", "--dry-run=client"), "  className: gold\n")
	p.want(0, append(adopt, "--class=gold"), "The pods run as before the adoption.")
	if web := p.get("web"); web.Spec.ClassName != "gold" || web.Status.Class == nil || web.Status.Class.Name != "gold" {
		t.Errorf("the class is %q, and in status %+v", web.Spec.ClassName, web.Status.Class)
	}

	// The class refuses the spec meanwhile, so the release of the pods waits, and nothing says at the same time that they are replaced.
	gold.Spec.Limits = &v1.ApplicationLimits{MaxReplicas: new(int32(1))}
	if _, err := p.fairlead.AppsV1().ApplicationClasses().Update(t.Context(), gold, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the class to refuse the spec", func() bool {
		return meta.FindStatusCondition(p.get("web").Status.Conditions, v1.ConditionReady).Reason == v1.ReasonClassLimitExceeded
	})
	p.want(0, []string{"adopt", "web", "--rollout", "--dry-run=client"}, "default/web: all 2 pods will be replaced.\n"+
		"  That waits: Fairlead does not carry the spec out (ClassLimitExceeded): spec.replicas: Invalid value: 2: ")
	p.want(1, []string{"why", "web"}, "   → Once the spec is carried out again, replace the pods: kubectl fairlead -n default adopt web --rollout\n")
}
