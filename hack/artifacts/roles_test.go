// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// permission is a rule of a role of the controller's, and where it holds.
type permission struct {
	role string
	rule rbacv1.PolicyRule
}

// permissions returns the rules of every role and cluster role.
func permissions(t *testing.T, objects []*unstructured.Unstructured) []permission {
	t.Helper()
	var all []permission
	for _, role := range typed[rbacv1.ClusterRole](t, objects, "ClusterRole") {
		for _, rule := range role.Rules {
			all = append(all, permission{"ClusterRole " + role.Name, rule})
		}
	}
	for _, role := range typed[rbacv1.Role](t, objects, "Role") {
		for _, rule := range role.Rules {
			all = append(all, permission{"Role " + role.Namespace + "/" + role.Name, rule})
		}
	}
	if len(all) == 0 {
		t.Fatal("there is no rule")
	}
	return all
}

// TestS1RolesAreNarrow is the static half of row S1 of the threat model: what no role may contain.
func TestS1RolesAreNarrow(t *testing.T) {
	for _, variant := range variants(t) {
		t.Run(variant, func(t *testing.T) {
			for _, p := range permissions(t, parse(t, build(t, variant))) {
				for _, problem := range excesses(p) {
					t.Errorf("%s: %s in %+v", p.role, problem, p.rule)
				}
			}
		})
	}
}

func excesses(p permission) []string {
	var all []string
	has := func(list []string, forbidden ...string) {
		for _, value := range list {
			if slices.Contains(forbidden, value) {
				all = append(all, value)
			}
		}
	}
	has(p.rule.Verbs, "*", "escalate", "bind", "impersonate")
	has(p.rule.APIGroups, "*", "certificates.k8s.io")
	if p.role != connectRole {
		has(p.rule.Resources, "pods/exec", "pods/portforward")
	}
	has(p.rule.Resources, "*", "pods/attach", "pods/ephemeralcontainers", "serviceaccounts/token", "nodes", "nodes/proxy", "persistentvolumes")
	has(p.rule.NonResourceURLs, "*", "/*")
	for _, resource := range p.rule.Resources {
		if strings.Contains(resource, "*") {
			all = append(all, resource)
		}
	}
	readsSecrets := slices.Contains(p.rule.Resources, "secrets") && len(p.rule.ResourceNames) == 0 && !slices.Equal(p.rule.Verbs, []string{"create"})
	if readsSecrets && p.role != "ClusterRole fairlead-controller-secrets" {
		all = append(all, "Secrets without a name, outside of the component secrets-access")
	}
	cluster := strings.HasPrefix(p.role, "ClusterRole")
	if cluster && slices.Contains(p.rule.Resources, "secrets") && !slices.Equal(p.rule.Verbs, []string{"get", "list", "watch"}) {
		all = append(all, "writing Secrets of others")
	}
	if slices.Contains(p.rule.Resources, "leases") && len(p.rule.ResourceNames) == 0 && !slices.Equal(p.rule.Verbs, []string{"create"}) {
		all = append(all, "Leases without a name")
	}
	if slices.Contains(p.rule.Resources, "namespaces") && slices.ContainsFunc(p.rule.Verbs, isWrite) {
		all = append(all, "writing namespaces")
	}
	roles := slices.Contains(p.rule.APIGroups, rbacv1.GroupName)
	if roles && (len(p.rule.ResourceNames) == 0 || !slices.Equal(p.rule.Verbs, []string{"get"})) {
		all = append(all, "roles without a name, or to write")
	}
	if slices.Contains(p.rule.APIGroups, "apiregistration.k8s.io") && len(p.rule.ResourceNames) == 0 {
		all = append(all, "APIServices without a name")
	}
	registration := slices.Contains(p.rule.APIGroups, "admissionregistration.k8s.io")
	if registration && (len(p.rule.ResourceNames) == 0 || slices.Contains(p.rule.Verbs, "create")) {
		all = append(all, "webhook configurations without a name")
	}
	definitions := slices.Contains(p.rule.APIGroups, "apiextensions.k8s.io")
	if definitions && (len(p.rule.ResourceNames) == 0 || !slices.Equal(p.rule.Verbs, []string{"list", "watch"})) {
		all = append(all, "CustomResourceDefinitions without a name, or to write")
	}
	return all
}

func isWrite(verb string) bool { return !slices.Contains([]string{"get", "list", "watch"}, verb) }

// connectRole lets the aggregated API server connect with pods.
const connectRole = "ClusterRole fairlead-apiserver-connect"

// TestS1ConnectIsOptional: only with its component may the aggregated API server connect with pods, and do no more there.
func TestS1ConnectIsOptional(t *testing.T) {
	for _, variant := range variants(t) {
		var granted []string
		for _, p := range permissions(t, parse(t, build(t, variant))) {
			if p.role == connectRole {
				granted = append(granted, fmt.Sprint(p.rule.APIGroups, p.rule.Resources, p.rule.Verbs))
			}
		}
		var want []string
		if variant == aggregated+"-connect" {
			want = []string{"[] [pods/exec pods/portforward] [get create]"}
		}
		if !slices.Equal(granted, want) {
			t.Errorf("%s: the role to connect has %q, want %q", variant, granted, want)
		}
	}
}

// TestS1SecretsAreOptional: without the component, no Secret of a tenant can be read.
func TestS1SecretsAreOptional(t *testing.T) {
	for _, p := range permissions(t, rendered(t, "default")) {
		if slices.Contains(p.rule.Resources, "secrets") && !strings.HasPrefix(p.role, "Role "+operatorNamespace+"/") {
			t.Errorf("%s grants Secrets: %+v", p.role, p.rule)
		}
	}
}

// TestS1NamespacedOverlayHasNothingClusterWide is why that overlay exists.
func TestS1NamespacedOverlayHasNothingClusterWide(t *testing.T) {
	for _, object := range rendered(t, "namespaced") {
		if object.GetNamespace() == "" && object.GetKind() != "Namespace" {
			t.Errorf("%s is cluster-wide", name(object))
		}
	}
}

// TestEveryRuleHasAReason looks for a comment above each rule.
func TestEveryRuleHasAReason(t *testing.T) {
	for _, file := range []string{
		"artifacts/rbac/watched/role.yaml", "artifacts/rbac/own/role.yaml", "artifacts/rbac/cluster/role.yaml", "artifacts/rbac/classes/role.yaml", "artifacts/rbac/users/roles.yaml",
		"artifacts/rbac/users/live-view.yaml",
		"artifacts/components/aggregated-api/role.yaml", "artifacts/components/aggregated-api/keeper.yaml", "artifacts/components/aggregated-api/users.yaml",
		"artifacts/components/aggregated-api-connect/role.yaml", "artifacts/components/aggregated-api-connect/users.yaml",
		"artifacts/components/aggregated-api-timeline/role.yaml", "artifacts/components/aggregated-api-timeline/users.yaml",
		"artifacts/components/secrets-access/secrets-access.yaml", "artifacts/components/monitoring/reader.yaml",
	} {
		lines := strings.Split(readFile(t, file), "\n")
		for i, line := range lines {
			starts := strings.HasPrefix(line, "- apiGroups:") || strings.HasPrefix(line, "- nonResourceURLs:")
			if starts && !strings.HasPrefix(lines[i-1], "#") && !hasReasonOfTheOneBefore(lines, i) {
				t.Errorf("%s:%d: this rule has no reason above it", file, i+1)
			}
		}
	}
}

// hasReasonOfTheOneBefore: rules in a row with the same verbs share a reason.
func hasReasonOfTheOneBefore(lines []string, i int) bool {
	verbs := func(from int) string {
		for _, line := range lines[from:] {
			if strings.HasPrefix(line, "  verbs:") {
				return line
			}
		}
		return ""
	}
	return lines[i-1] == verbs(i)
}
