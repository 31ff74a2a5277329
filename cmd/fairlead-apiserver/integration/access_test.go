// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	subresources "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/subresources/v1alpha1"
)

// path is one request that the API serves.
type path struct {
	name string
	ask  func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error
}

// logOf is the one path that is no method of the generated client.
func logOf(client subresources.SubresourcesV1alpha1Interface, namespace string) path {
	return path{"log", func(ctx context.Context, _ subresources.ApplicationRuntimeInterface) error {
		log, err := openLog(ctx, client, namespace, "asked", "false")
		if err == nil {
			err = log.Close()
		}
		return err
	}}
}

// paths are all of them. Each asks about the Application "asked".
var paths = []path{
	{"get", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		_, err := views.Get(ctx, "asked", metav1.GetOptions{})
		return err
	}},
	{"list", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		_, err := views.List(ctx, metav1.ListOptions{})
		return err
	}},
	{"watch", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		w, err := views.Watch(ctx, metav1.ListOptions{})
		if err == nil {
			w.Stop()
		}
		return err
	}},
	{"tree", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		_, err := views.GetTree(ctx, "asked", metav1.GetOptions{})
		return err
	}},
	{"render", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		_, err := views.Render(ctx, "asked", renderOptions("asked", "example.com/asked:2"), metav1.CreateOptions{})
		return err
	}},
	{"restart", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		_, err := views.Restart(ctx, "asked", &v1alpha1.RestartOptions{}, dryRun)
		return err
	}},
	{"rollback", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		_, err := views.Rollback(ctx, "asked", &v1alpha1.RollbackOptions{Revision: 1}, dryRun)
		return err
	}},
	{"pause", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		_, err := views.Pause(ctx, "asked", &v1alpha1.PauseOptions{}, dryRun)
		return err
	}},
	{"resume", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		_, err := views.Resume(ctx, "asked", &v1alpha1.ResumeOptions{}, dryRun)
		return err
	}},
}

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// TestS23Access asks every path as nine identities. A user gets through a subresource what the user may do directly, and
// nothing else: neither the permission for the subresource nor that for the objects is enough alone.
func TestS23Access(t *testing.T) {
	f := start(t)
	f.apply("asked", 1)
	f.view("asked", running(1))
	subresource := rule(group, "*", "get", "list", "watch", "create")
	applications := rule(v1.GroupName, "applications", "get", "list", "watch", "patch")
	pods := rule("", "pods", "get", "list", "watch")
	podLogs := rule("", "pods/log", "get")
	with := func(rules ...rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return append(rules, rule("apps", "replicasets", "list"), rule("discovery.k8s.io", "endpointslices", "list"))
	}
	withChildren := func(rules ...rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return append(with(rules...), onChildren()...)
	}
	reads, edits := []string{"get", "list", "watch"}, []string{"restart", "rollback", "pause", "resume"}
	for _, identity := range []struct {
		name    string
		rules   []rbacv1.PolicyRule
		allowed []string
	}{
		{"nobody", nil, nil},
		{"only-subresources", []rbacv1.PolicyRule{subresource}, nil},
		{"only-objects", withChildren(applications, pods, podLogs), nil},
		{"without-applications", withChildren(subresource, pods, podLogs), nil},
		{"without-pods", withChildren(subresource, applications, podLogs), edits},
		{"getter", []rbacv1.PolicyRule{rule(group, "applications", "get"), rule(v1.GroupName, "applications", "get"), pods}, []string{"get"}},
		{"reader", withChildren(subresource, rule(v1.GroupName, "applications", "get", "list", "watch"), pods), slices.Concat(reads, []string{"tree"})},
		{"without-children", with(subresource, applications, pods, podLogs), slices.Concat(reads, edits, []string{"tree", "log"})},
		{"tenant", withChildren(subresource, applications, pods, podLogs), slices.Concat(reads, edits, []string{"tree", "log", "render"})},
	} {
		client := f.client(identity.name, identity.rules...)
		views := client.ApplicationRuntimes(f.namespace)
		for _, path := range append(paths, logOf(client, f.namespace)) {
			want := 403
			if slices.Contains(identity.allowed, path.name) {
				want = 200
			}
			if err := path.ask(t.Context(), views); code(err) != want {
				t.Errorf("%s as %s: %v, want %d", path.name, identity.name, err, want)
			}
		}
		// The permissions are for this namespace.
		if _, err := client.ApplicationRuntimes("").List(t.Context(), metav1.ListOptions{}); code(err) != 403 {
			t.Errorf("list of all namespaces as %s: %v, want 403", identity.name, err)
		}
	}
	for _, path := range paths {
		if err := path.ask(t.Context(), f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)); err != nil {
			t.Errorf("%s as an administrator: %v", path.name, err)
		}
	}
}
