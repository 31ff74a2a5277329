// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestAdoptionWaitsForSecret: what why says leads on from an adoption that is refused because a Secret is missing, and back.
func TestAdoptionWaitsForSecret(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.runs(kube)
	p.create("web", strings.Replace(byHand, "replicas: 2", "replicas: 2, envFrom: [{secretRef: {name: later}}]", 1))
	p.want(1, []string{"adopt", "web", "--existing", "--accept=.spec.containers[web].tty"},
		"  Deployment web cannot be adopted because of spec: Secret later does not exist; no pod starts without it.\n")
	p.want(0, []string{"adopt", "web", "--abort", "--dry-run=client"}, "the adoption would be taken back")
	enforce := []byte(`{"spec":{"reconcilePolicy":"Enforce"}}`)
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, enforce, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the spec to be carried out", func() bool { return p.get("web").Status.ObservedGeneration == p.get("web").Generation })
	p.want(1, []string{"why", "web"}, "   → Create Secret later; the adoption then goes on.\n"+
		"   → Or take the adoption back: kubectl fairlead -n "+p.namespace+" adopt web --abort\n")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "later"}}
	if _, err := kube.CoreV1().Secrets(p.namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the adoption to go on", func() bool {
		adopted := meta.FindStatusCondition(p.get("web").Status.Conditions, v1.ConditionAdopted)
		return adopted != nil && adopted.Reason == v1.ReasonPodsHeld
	})
}

// readsNoSecrets gives a user permission to read all that why needs, except for Secrets.
func (p *plugin) readsNoSecrets(kube kubernetes.Interface, user string) {
	p.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbacv1.PolicyRule{{
		Verbs: []string{"get", "list"}, APIGroups: []string{"*"},
		Resources: []string{"applications", "controllerrevisions", "deployments", "endpointslices", "events", "pods", "replicasets", "services"},
	}}}
	if _, err := kube.RbacV1().Roles(p.namespace).Create(p.Context(), role, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}
	if _, err := kube.RbacV1().RoleBindings(p.namespace).Create(p.Context(), binding, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	p.eventually("the permissions of "+user, func() bool { return p.run("why", "web", "--as="+user).code == 1 })
}
