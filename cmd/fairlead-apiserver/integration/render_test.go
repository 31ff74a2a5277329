// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
	subresources "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/subresources/v1alpha1"
)

// onChildren are rules for all kinds of children.
func onChildren() []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, kind := range child.AllKinds() {
		rules = append(rules, rule(kind.Group, kind.Resource, "list"))
	}
	return rules
}

// rendersWithout are the rules of a user with permission to render, and to list each kind of children except this one.
func rendersWithout(lacking child.Kind) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		rule(group, "applications/render", "create"), rule(v1.GroupName, "applications", "get", "patch", "create"), rule("", "pods", "list"),
	}
	for _, kind := range child.AllKinds() {
		if kind != lacking {
			rules = append(rules, rule(kind.Group, kind.Resource, "list"))
		}
	}
	return rules
}

// renderOptions posts an Application with one pod of this image.
func renderOptions(name, image string, mutate ...func(spec map[string]any)) *v1alpha1.RenderOptions {
	spec := map[string]any{"image": image, "replicas": 1}
	for _, m := range mutate {
		m(spec)
	}
	encoded, err := json.Marshal(map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(), "kind": v1.ApplicationKind, "metadata": map[string]any{"name": name}, "spec": spec,
	})
	if err != nil {
		panic(err)
	}
	return &v1alpha1.RenderOptions{Application: runtime.RawExtension{Raw: encoded}}
}

// TestRender posts specs, and wants to know what they would do. Nothing changes.
func TestRender(t *testing.T) {
	f := start(t)
	f.apply("rendered", 1)
	f.view("rendered", running(1))
	views := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	before, err := f.fairlead.AppsV1().Applications(f.namespace).Get(t.Context(), "rendered", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	labels := func(o *v1alpha1.RenderOptions) *v1alpha1.RenderOptions {
		o.Application.Raw = []byte(strings.Replace(string(o.Application.Raw), `"metadata":{`, `"metadata":{"labels":{"team":"rendered"},`, 1))
		return o
	}
	for _, test := range []struct {
		name, application string
		options           *v1alpha1.RenderOptions
		replaced          bool
		because           string
		changes           []string
	}{
		{"the same", "rendered", labels(renderOptions("rendered", "example.com/rendered:1")), false, "", nil},
		{
			"another image", "rendered", labels(renderOptions("rendered", "example.com/rendered:2")), true, `.spec.template.spec.containers[rendered].image: "example.com/rendered:1" to "example.com/rendered:2"`,
			[]string{"Create ControllerRevision", "Update Deployment"},
		},
		{
			"more pods", "rendered", labels(renderOptions("rendered", "example.com/rendered:1", func(spec map[string]any) { spec["replicas"] = 3 })), false, "",
			[]string{"Update Deployment"},
		},
		{"a new Application", "another", renderOptions("another", "example.com/another:1"), false, "", []string{"Create ControllerRevision", "Create Deployment"}},
	} {
		got, err := views.Render(t.Context(), test.application, test.options, metav1.CreateOptions{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var changes []string
		for _, change := range got.Changes {
			if text := change.Action + " " + change.Kind; slices.Contains(test.changes, text) || change.Action != "Create" {
				changes = append(changes, text)
			}
		}
		if !slices.Equal(changes, test.changes) {
			t.Errorf("%s changes %+v, want %v", test.name, got.Changes, test.changes)
		}
		var because string
		for _, change := range got.Pods.Because {
			because += change.Path + ": " + change.Before + " to " + change.After
		}
		if got.Pods.Replaced != test.replaced || because != test.because {
			t.Errorf("%s replaces pods: %v, because of %q; want %v, because of %q", test.name, got.Pods.Replaced, because, test.replaced, test.because)
		}
		if !slices.ContainsFunc(got.Children, func(c runtime.RawExtension) bool { return strings.Contains(string(c.Raw), `"kind":"Deployment"`) }) {
			t.Errorf("%s has no Deployment among its children %s", test.name, got.Children)
		}
		if got.Name != test.application || got.Namespace != f.namespace {
			t.Errorf("%s is about %s/%s", test.name, got.Namespace, got.Name)
		}
	}
	after, err := f.fairlead.AppsV1().Applications(f.namespace).Get(t.Context(), "rendered", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after.Generation != before.Generation {
		t.Errorf("the generation is %d after renderings, %d before", after.Generation, before.Generation)
	}
	if _, err := f.fairlead.AppsV1().Applications(f.namespace).Get(t.Context(), "another", metav1.GetOptions{}); code(err) != 404 {
		t.Errorf("the rendered new Application: %v, want 404", err)
	}
}

// TestRenderForeign: an object of another owner, which lacks the label, is not created, and a user without permission to list its kind learns nothing of it.
func TestRenderForeign(t *testing.T) {
	f := start(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "foreign", Labels: map[string]string{"team": "other"}}}
	if _, err := f.kube.CoreV1().ServiceAccounts(f.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	options := renderOptions("foreign", "example.com/foreign:1")
	got, err := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace).Render(t.Context(), "foreign", options, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, change := range got.Changes {
		if change.Kind == child.ServiceAccount.Kind {
			said = append(said, change.Action+": "+change.Reason)
		}
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "Blocked: Fairlead leaves the object alone: ") {
		t.Errorf("the ServiceAccount: %q, want it blocked", said)
	}
	_, err = f.client("without-accounts", rendersWithout(child.ServiceAccount)...).ApplicationRuntimes(f.namespace).Render(t.Context(), "foreign", options, metav1.CreateOptions{})
	if code(err) != 403 || strings.Contains(err.Error(), "Blocked") {
		t.Errorf("without the permission to list ServiceAccounts: %v, want 403", err)
	}
}

// TestRenderOptionalKinds: a user without permission to list an optional kind learns nothing of an Application that has or would have a child
// of it, and everything of another one.
func TestRenderOptionalKinds(t *testing.T) {
	f := start(t)
	// The cluster serves no HTTPRoutes, and the controller leaves the resources in the status of a suspended Application.
	f.apply("had", 1, func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend })
	f.eventually("an HTTPRoute in the status", func() error {
		had, err := f.fairlead.AppsV1().Applications(f.namespace).Get(t.Context(), "had", metav1.GetOptions{})
		if err != nil {
			return err
		}
		had.Status.Resources = []v1.ResourceStatus{{Group: child.HTTPRoute.Group, Kind: child.HTTPRoute.Kind, Name: "had", State: v1.ResourceSynced}}
		_, err = f.fairlead.AppsV1().Applications(f.namespace).UpdateStatus(t.Context(), had, metav1.UpdateOptions{})
		return err
	})
	withPort := func(spec map[string]any) {
		spec["ports"] = []any{map[string]any{"name": "http", "containerPort": 8080}}
	}
	monitored := func(spec map[string]any) { withPort(spec); spec["monitoring"] = map[string]any{} }
	routes := f.client("without-routes", rendersWithout(child.HTTPRoute)...).ApplicationRuntimes(f.namespace)
	monitors := f.client("without-monitors", rendersWithout(child.ServiceMonitor)...).ApplicationRuntimes(f.namespace)
	for _, test := range []struct {
		name        string
		application string
		mutate      func(spec map[string]any)
		routes      int
		monitors    int
	}{
		{"an Application without optional kinds", "plain", withPort, 0, 0},
		{"one that has an HTTPRoute", "had", withPort, 403, 0},
		{"one that would have a ServiceMonitor", "monitored", monitored, 0, 403},
	} {
		options := renderOptions(test.application, "example.com/"+test.application+":1", test.mutate)
		for _, user := range []struct {
			views   subresources.ApplicationRuntimeInterface
			without child.Kind
			want    int
		}{{routes, child.HTTPRoute, test.routes}, {monitors, child.ServiceMonitor, test.monitors}} {
			got, err := user.views.Render(t.Context(), test.application, options, metav1.CreateOptions{})
			switch {
			case user.want == 0 && err != nil:
				t.Errorf("%s, without the permission to list %s: %v", test.name, user.without.Resource, err)
			case user.want != 0 && (code(err) != user.want || !strings.Contains(err.Error(), user.without.Resource) || len(got.Children) > 0):
				t.Errorf("%s, without the permission to list %s: %v, want %d", test.name, user.without.Resource, err, user.want)
			}
		}
	}
}

// TestRenderWithoutGatewayAPI wants what the controller does where the cluster serves no HTTPRoutes.
func TestRenderWithoutGatewayAPI(t *testing.T) {
	f := start(t)
	routed := renderOptions("routed", "example.com/routed:1", func(spec map[string]any) {
		spec["ports"] = []any{map[string]any{"name": "http", "containerPort": 8080}}
		spec["routes"] = []any{map[string]any{"name": "r", "hostnames": []any{"routed.example.com"}, "parentRefs": []any{map[string]any{"name": "gateway"}}}}
	})
	got, err := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace).Render(t.Context(), "routed", routed, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	has := func(kind string) bool {
		return slices.ContainsFunc(got.Children, func(c runtime.RawExtension) bool { return strings.Contains(string(c.Raw), `"kind":"`+kind+`"`) })
	}
	if !has("Ingress") || has("HTTPRoute") {
		t.Errorf("the children are %s, want an Ingress and no HTTPRoute", got.Children)
	}
}

// TestRenderRefused wants the answer that kube-apiserver gives to a spec that it would not store.
func TestRenderRefused(t *testing.T) {
	f := start(t)
	views := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	for _, test := range []struct {
		name    string
		options *v1alpha1.RenderOptions
		code    int
		message string
	}{
		{"nothing", &v1alpha1.RenderOptions{}, 400, "application must be"},
		{"another kind", &v1alpha1.RenderOptions{Application: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Pod"}`)}}, 400, "application must be"},
		{"another name", renderOptions("other", "example.com/other:1"), 400, "but the path names"},
		{"an unknown field", renderOptions("refused", "example.com/refused:1", func(spec map[string]any) { spec["imagee"] = "x" }), 422, "imagee"},
		{"no image", renderOptions("refused", ""), 422, "spec.image"},
		{"a rule of the schema", renderOptions("refused", "example.com/refused:1", func(spec map[string]any) { spec["replicas"] = -1 }), 422, "spec.replicas"},
		{"a class that does not exist", renderOptions("refused", "example.com/refused:1", func(spec map[string]any) { spec["className"] = "missing" }), 422, "spec.className"},
	} {
		_, err := views.Render(t.Context(), "refused", test.options, metav1.CreateOptions{})
		if code(err) != test.code || err == nil || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: %v, want %d with %q", test.name, err, test.code, test.message)
		}
	}
}

// TestS23RenderNeedsCreate: who may only patch one Application learns nothing about one that does not exist.
func TestS23RenderNeedsCreate(t *testing.T) {
	f := start(t)
	rules := append(onChildren(), rule(group, "applications/render", "create"), rule(v1.GroupName, "applications", "get", "patch"), rule("", "pods", "list"))
	views := f.client("patcher", rules...).ApplicationRuntimes(f.namespace)
	if _, err := views.Render(t.Context(), "missing", renderOptions("missing", "example.com/missing:1"), metav1.CreateOptions{}); code(err) != 403 {
		t.Errorf("render of a new Application without create: %v, want 403", err)
	}
}
