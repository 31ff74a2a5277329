// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	subresources "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/subresources/v1alpha1"
)

// watchTimeline watches one timeline. Clients have no method for it, since the path of such a watch has a form of its own.
func watchTimeline(ctx context.Context, client subresources.SubresourcesV1alpha1Interface, namespace, name string) (watch.Interface, error) {
	return client.RESTClient().Get().AbsPath("apis", group, version, "watch", "namespaces", namespace, "applications", name, "timeline").Watch(ctx)
}

// TestTimeline: a tenant reads what the leader did for an Application, and watches what it does.
func TestTimeline(t *testing.T) {
	f := start(t)
	f.apply("timed", 1)
	f.view("timed", running(1))
	f.client("tenant", append(onChildren(), rule(group, "applications/timeline", "get", "watch"), rule(v1.GroupName, "applications", "get"), rule("", "pods", "list"), rule("apps", "replicasets", "list"))...)
	client := versioned.NewForConfigOrDie(cluster.ConfigFor(f.namespace + ":tenant")).SubresourcesV1alpha1()
	views := client.ApplicationRuntimes(f.namespace)
	wrote := func(event v1alpha1.TimelineEvent) bool {
		return event.Stage == "apply" && event.Type == "Wrote" && event.Resource == "deployments.apps" && event.Object == "timed"
	}
	f.eventually("the timeline", func() error {
		timeline, err := views.GetTimeline(t.Context(), "timed", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if timeline.Name != "timed" || timeline.Instance == "" || !slices.ContainsFunc(timeline.Events, wrote) {
			return fmt.Errorf("it is %+v", timeline)
		}
		return nil
	})
	if table := f.table("timed/timeline"); len(table.Rows) == 0 || len(table.Rows[0].Cells) != len(table.ColumnDefinitions) {
		t.Errorf("table %+v", table)
	}
	if _, err := views.GetTimeline(t.Context(), "missing", metav1.GetOptions{}); code(err) != 404 {
		t.Errorf("timeline of no Application: %v, want 404", err)
	}
	watching, err := watchTimeline(t.Context(), client, f.namespace, "timed")
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	first := f.next(watching)
	timeline, ok := first.Object.(*v1alpha1.ApplicationTimeline)
	if first.Type != watch.Added || !ok || !slices.ContainsFunc(timeline.Events, wrote) {
		t.Fatalf("first event %+v", first)
	}
	newest := timeline.Events[len(timeline.Events)-1].Sequence
	if _, err := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace).Restart(t.Context(), "timed", &v1alpha1.RestartOptions{}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for restarted := false; !restarted; {
		event := f.next(watching)
		timeline, ok := event.Object.(*v1alpha1.ApplicationTimeline)
		if event.Type != watch.Modified || !ok {
			t.Fatalf("event %+v", event)
		}
		for _, e := range timeline.Events {
			if e.Sequence <= newest {
				t.Errorf("event %d comes after %d", e.Sequence, newest)
			}
			newest = e.Sequence
		}
		restarted = slices.ContainsFunc(timeline.Events, wrote)
	}
}

// TestS23Timeline: neither the permission for the subresource nor that for what a timeline names suffices alone, and each is for one
// namespace.
func TestS23Timeline(t *testing.T) {
	f := start(t)
	f.apply("asked", 0)
	f.view("asked", func(*v1alpha1.ApplicationRuntime) bool { return true })
	subresource := rule(group, "applications/timeline", "get", "watch")
	objects := append(onChildren(), rule(v1.GroupName, "applications", "get"), rule("", "pods", "list"), rule("apps", "replicasets", "list"))
	without := func(resource string) []rbacv1.PolicyRule {
		return slices.DeleteFunc(append(slices.Clone(objects), subresource), func(r rbacv1.PolicyRule) bool { return r.Resources[0] == resource })
	}
	for name, rules := range map[string][]rbacv1.PolicyRule{
		"stranger": nil, "only-subresource": {subresource}, "only-objects": objects,
		"no-applications": without("applications"), "no-pods": without("pods"), "no-replicasets": without("replicasets"), "no-configmaps": without("configmaps"),
	} {
		client := f.client(name, rules...)
		if _, err := client.ApplicationRuntimes(f.namespace).GetTimeline(t.Context(), "asked", metav1.GetOptions{}); code(err) != 403 {
			t.Errorf("timeline as %s: %v, want 403", name, err)
		}
		if watching, err := watchTimeline(t.Context(), client, f.namespace, "asked"); code(err) != 403 {
			t.Errorf("watch of the timeline as %s: %v, want 403", name, errors.Join(err))
			if watching != nil {
				watching.Stop()
			}
		}
	}
	tenant := f.client("with-all", append(objects, subresource)...)
	if _, err := tenant.ApplicationRuntimes(f.namespace).GetTimeline(t.Context(), "asked", metav1.GetOptions{}); err != nil {
		t.Errorf("timeline with all permissions: %v", err)
	}
	if _, err := tenant.ApplicationRuntimes("default").GetTimeline(t.Context(), "asked", metav1.GetOptions{}); code(err) != 403 {
		t.Errorf("timeline in another namespace: %v, want 403", err)
	}
}
