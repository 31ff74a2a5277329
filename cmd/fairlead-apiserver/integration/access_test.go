// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// rawPaths are those that are no methods of the generated client.
func rawPaths(client subresources.SubresourcesV1alpha1Interface, namespace string) []path {
	connect := func(subresource, query string) path {
		return path{subresource, func(ctx context.Context, _ subresources.ApplicationRuntimeInterface) error {
			uri := "/apis/" + group + "/" + version + "/namespaces/" + namespace + "/applications/asked/" + subresource + query
			err := client.RESTClient().Post().RequestURI(uri).Do(ctx).Error()
			// A user who may connect has come as far as the upgrade, for which this request does not ask. TestS23Connect does.
			if apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "must ask for an upgrade") {
				return nil
			}
			return err
		}}
	}
	return []path{
		{"log", func(ctx context.Context, _ subresources.ApplicationRuntimeInterface) error {
			log, err := openLog(ctx, client, namespace, "asked", "false")
			if err == nil {
				err = log.Close()
			}
			return err
		}},
		{"watch of timeline", func(ctx context.Context, _ subresources.ApplicationRuntimeInterface) error {
			watching, err := watchTimeline(ctx, client, namespace, "asked")
			if err == nil {
				watching.Stop()
			}
			return err
		}},
		connect("exec", "?command=ls&stdout=true"),
		connect("portforward", ""),
	}
}

// paths are all others. Each asks about the Application "asked".
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
	{"timeline", func(ctx context.Context, views subresources.ApplicationRuntimeInterface) error {
		_, err := views.GetTimeline(ctx, "asked", metav1.GetOptions{})
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

// TestS23Access asks every path as ten identities. A user gets through a subresource what the user may do directly, and
// nothing else: neither the permission for the subresource nor that for the objects is enough alone.
func TestS23Access(t *testing.T) {
	f := start(t)
	f.apply("asked", 1)
	f.view("asked", running(1))
	subresource := rule(group, "*", "get", "list", "watch", "create")
	applications := rule(v1.GroupName, "applications", "get", "list", "watch", "patch")
	pods := rule("", "pods", "get", "list", "watch")
	podLogs := rule("", "pods/log", "get")
	podConnections := []rbacv1.PolicyRule{rule("", "pods/exec", "create"), rule("", "pods/portforward", "create")}
	with := func(rules ...rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return append(rules, rule("apps", "replicasets", "list"), rule("discovery.k8s.io", "endpointslices", "list"))
	}
	withChildren := func(rules ...rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return append(with(rules...), onChildren()...)
	}
	reads, edits := []string{"get", "list", "watch"}, []string{"restart", "rollback", "pause", "resume"}
	timelines, connections := []string{"timeline", "watch of timeline"}, []string{"exec", "portforward"}
	for _, identity := range []struct {
		name    string
		rules   []rbacv1.PolicyRule
		allowed []string
	}{
		{"nobody", nil, nil},
		{"only-subresources", []rbacv1.PolicyRule{subresource}, nil},
		{"only-objects", withChildren(append(podConnections, applications, pods, podLogs)...), nil},
		{"without-applications", withChildren(append(podConnections, subresource, pods, podLogs)...), nil},
		{"without-pods", withChildren(append(podConnections, subresource, applications, podLogs)...), edits},
		{"getter", []rbacv1.PolicyRule{rule(group, "applications", "get"), rule(v1.GroupName, "applications", "get"), pods}, []string{"get"}},
		{"reader", withChildren(subresource, rule(v1.GroupName, "applications", "get", "list", "watch"), pods), slices.Concat(reads, timelines, []string{"tree"})},
		{"without-children", with(append(podConnections, subresource, applications, pods, podLogs)...), slices.Concat(reads, edits, connections, []string{"tree", "log"})},
		{"without-connections", withChildren(subresource, applications, pods, podLogs), slices.Concat(reads, timelines, edits, []string{"tree", "log", "render"})},
		{"tenant", withChildren(append(podConnections, subresource, applications, pods, podLogs)...), slices.Concat(reads, timelines, edits, connections, []string{"tree", "log", "render"})},
	} {
		client := f.client(identity.name, identity.rules...)
		views := client.ApplicationRuntimes(f.namespace)
		for _, path := range slices.Concat(paths, rawPaths(client, f.namespace)) {
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
	for _, path := range slices.Concat(paths, rawPaths(f.fairlead.SubresourcesV1alpha1(), f.namespace)) {
		if err := path.ask(t.Context(), f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)); err != nil {
			t.Errorf("%s as an administrator: %v", path.name, err)
		}
	}
}
