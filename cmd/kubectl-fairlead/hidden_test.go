// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestTreeOfOthers: with -A the roots have their namespaces. For a user without permission to list the children, they are left out and named.
func TestTreeOfOthers(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1, replicas: 1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"tree", "-A"}, p.namespace+"/web  Healthy")
	rbac := kubernetes.NewForConfigOrDie(p.cluster.Config()).RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "guest"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"apps.fairlead.dev"}, Resources: []string{"applications"}, Verbs: []string{"get", "list"},
	}, {APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"get", "list"}}}}
	if _, err := rbac.Roles(p.namespace).Create(p.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "guest"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "guest"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "guest"}},
	}
	if _, err := rbac.RoleBindings(p.namespace).Create(p.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the guest to read", func() bool { return p.run("get", "web", "--as=guest").code == 0 })
	r := p.want(0, []string{"tree", "web", "--as=guest"}, "Application/web  Healthy", "  Not shown: you may not list configmaps, controllerrevisions, deployments, ")
	if strings.Contains(r.stdout, "Missing") {
		t.Errorf("%s", r.stdout)
	}
}
