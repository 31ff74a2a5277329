// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestPrint pins what the commands print that draw no screen of their own, at both widths.
func TestPrint(t *testing.T) {
	shop := &release{saved: &adopt.Release{Namespace: "shop", Name: "shop"}}
	labels := map[string]any{"app.kubernetes.io/managed-by": "fairlead", "apps.fairlead.dev/application": "web"}
	template := map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": labels}}}
	objects := []left{
		{&unstructured.Unstructured{Object: map[string]any{"kind": "ServiceAccount", "metadata": map[string]any{"name": "web"}}}, child.ServiceAccount},
		{&unstructured.Unstructured{Object: map[string]any{"kind": "Deployment", "metadata": map[string]any{"name": "web"}, "spec": template}}, child.Deployment},
		{&unstructured.Unstructured{Object: map[string]any{"kind": "Service", "metadata": map[string]any{"name": "web"}}}, child.Service},
	}
	here := toolWith(*clientcmdapi.NewConfig(), "shop")
	deployment, now := &appsv1.Deployment{}, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, draw := range map[string]func(*screen.Screen){
		"adopt": func(to *screen.Screen) {
			changed := []preview.Change{
				{Path: ".metadata.labels[apps.fairlead.dev/application]", After: "web"},
				{Path: ".spec.containers[web].image", Before: "example.com/shop:1", After: "example.com/shop:2"},
				{Path: ".spec.containers[web].securityContext", After: map[string]any{"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}}},
			}
			printChanges(to, "shop/web", 2, &adopt.Differences{Changed: changed, Lost: []preview.Change{{Path: ".spec.containers[web].tty", Before: true}}})
			printChanges(to, "shop/idle", 1, &adopt.Differences{Changed: changed[:1]})
			printChanges(to, "shop/none", 0, &adopt.Differences{Changed: changed[:2]})
			renamed := []string{"container server becomes cart", "volume cfg, mounted at /etc/app, becomes etc-app-5978956465", "volume cache, mounted at /var/cache/app, becomes var-cache-app-97a17890c2"}
			printChanges(to, "shop/cart", 3, &adopt.Differences{Changed: changed[1:], Renamed: renamed})
			printChanges(to, "shop/ejected", 3, &adopt.Differences{Renamed: []string{"volume config, mounted at /etc/shop, becomes etc-shop-37eff16174"}})
			printChanges(to, "shop/same", 3, &adopt.Differences{})
			to.Hanging("  ", stays([]string{"HorizontalPodAutoscaler web", "PodDisruptionBudget shop"}))
			to.Hanging("  ", servicesStay([]string{"web-internal"}, ""))
			to.Hanging("  ", servicesStay([]string{"shop", "web-internal"}, "web"))
			to.Hanging("  ", routesStay([]string{"Ingress public"}))
			printRelease(to, shop, []helm.Object{{Kind: "ConfigMap", Name: "shop-config"}, {Kind: "Secret", Name: "shop-password"}})
			printHeld(to, "The pods run as before the adoption. Set spec.paused to false to replace those with the labels app.kubernetes.io/instance=web,app.kubernetes.io/name=shop.",
				nextCommand{"Replace the pods", "kubectl fairlead adopt web --rollout"}, nextCommand{"Take it back", "kubectl fairlead adopt web --abort"})
			printRollout(to, "shop/web", pods(2, 0), "")
			printRollout(to, "shop/idle", pods(1, 0), "")
			printRollout(to, "shop/none", pods(0, 0), "")
			printRollout(to, "shop/ejected", pods(2, 2), "")
			const missing = "Secret shop/db not found; the rollout waits until it exists."
			printRollout(to, "shop/web", pods(2, 0), missing)
			printRollout(to, "shop/none", pods(0, 0), missing)
			printRollout(to, "shop/ejected", pods(2, 2), missing)
		},
		"eject": func(to *screen.Screen) {
			(&ejecting{namespace: "shop", name: "web"}).announce(to, objects, false)
			printEjected(to, "shop/web", "", nil, podsThen{})
		},
		"eject.annotations": func(to *screen.Screen) {
			hashed := left{objects[1].DeepCopy(), child.Deployment}
			if err := unstructured.SetNestedField(hashed.Object, "h", "spec", "template", "metadata", "annotations", v1.AnnotationConfigMapsHash); err != nil {
				t.Fatal(err)
			}
			(&ejecting{namespace: "shop", name: "web"}).announce(to, []left{hashed}, false)
		},
		"eject.gone": func(to *screen.Screen) {
			(&ejecting{tool: here, namespace: "shop", name: "web", restore: true, toHelm: true, release: shop, pods: podsThen{other: 2}, deployment: deployment, service: &corev1.Service{}}).announce(to, objects, true)
			printRestored(to, []preview.Change{
				{Path: "Deployment/web: .spec.template.spec.containers[web].image", Before: "example.com/shop:2", After: "example.com/shop:1"},
				{Path: "Deployment/web: .spec.template.spec.containers[web].securityContext.allowPrivilegeEscalation", Before: false},
				{Path: "Service/web: .spec.type", Before: "ClusterIP", After: "LoadBalancer"},
			})
			printEjected(to, "shop/web", "kubectl -n shop delete serviceaccount/web", []string{"horizontalpodautoscaler/web", "ingress/web"}, podsThen{other: 2})
		},
		"eject.paused": func(to *screen.Screen) {
			paused := left{objects[1].DeepCopy(), child.Deployment}
			if err := unstructured.SetNestedField(paused.Object, true, "spec", "paused"); err != nil {
				t.Fatal(err)
			}
			(&ejecting{tool: here, namespace: "shop", name: "web"}).announce(to, []left{paused}, false)
		},
		"eject.nothing": func(to *screen.Screen) {
			(&ejecting{namespace: "shop", name: "web"}).announce(to, nil, false)
			(&ejecting{tool: here, namespace: "shop", name: "web", restore: true, deployment: deployment}).announce(to, nil, true)
		},
		"eject.lost": func(to *screen.Screen) {
			(&ejecting{namespace: "shop", name: "web", restore: true}).announce(to, nil, true)
			(&ejecting{namespace: "shop", name: "web", restore: true, service: &corev1.Service{}}).announce(to, nil, true)
		},
		"eject.held": func(to *screen.Screen) {
			(&ejecting{tool: here, namespace: "shop", name: "web", restore: true, deployment: deployment, service: &corev1.Service{}}).announce(to, objects, false)
			printEjected(to, "shop/web", "kubectl -n shop delete serviceaccount/web", nil, podsThen{stay: 2})
		},
		"edit": func(to *screen.Screen) {
			printEdit(to, "shop/web", "spec.image: example.com/web:1 → example.com/web:2", "All 2 pods are replaced, because of containers[web].image. That waits: ConfigMap shop/settings not found; the rollout waits until it exists.")
			printEdit(to, "shop/idle", "spec.paused: true", "")
		},
		"history": func(to *screen.Screen) {
			revisions := []revision{
				{"shop", "web", edit.Revision{Number: 12, Image: "example.com/web:3", Created: now.Add(-time.Minute), RolledBack: true}},
				{"shop", "web", edit.Revision{Number: 11, Image: "registry.example.com/shop/web:2", Created: now.Add(-26 * time.Hour), Current: true, LastHealthy: true}},
				{"shop", "web", edit.Revision{Number: 10, Image: "example.com/web:1", Created: now.Add(-27 * time.Hour), NeverHealthy: true, Pinned: true}},
				{"shop", "web", edit.Revision{Number: 9, Image: "example.com/web:0", Created: now.Add(-28 * time.Hour), WasRolledBack: true}},
				{"shop", "web", edit.Revision{Number: 8, Image: "example.com/web:0", Created: now.Add(-29 * time.Hour), WasHealthy: true, RestartOf: 7}},
				{"shop", "web", edit.Revision{Number: 7, Image: "example.com/web:0", Created: now.Add(-30 * time.Hour), NeverHealthy: true}},
			}
			for i := range revisions {
				revisions[i].Containers = []edit.Container{{Name: "logs", Image: "example.com/logs:1"}} // The same in all.
			}
			revisions[4].Containers = append(revisions[4].Containers, edit.Container{Name: "proxy", Image: "envoy:3"})
			revisions[5].Containers = append(revisions[5].Containers, edit.Container{Name: "proxy", Image: "envoy:2"})
			for _, many := range []bool{false, true} {
				if err := printHistory(to.Writer(), revisions, many, false, now); err != nil {
					t.Fatal(err)
				}
				to.Line(notReported([]string{"shop/web"}, many))
			}
		},
		"lint": func(to *screen.Screen) {
			problems := []manifest.Problem{
				{File: "web.yaml", Line: 7, Field: "spec.replicas", Rule: manifest.Schema, Message: `Invalid value: must be a whole number, not a string`},
				{File: "web.yaml", Line: 12, Rule: manifest.Syntax, Message: "mapping values are not allowed in this context"},
			}
			for _, found := range [][]manifest.Problem{problems, nil} {
				if err := printProblems(to, output{}, found, 2, uncheckedClasses{}); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) { golden.Screens(t, name, draw) })
	}
}

// pods is a Deployment with so many pods, and so many of its present template.
func pods(all, updated int32) *appsv1.Deployment {
	return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &all}, Status: appsv1.DeploymentStatus{Replicas: all, UpdatedReplicas: updated}}
}

// TestStateOf: a revision that waits does not run, although it is the current one.
func TestStateOf(t *testing.T) {
	for want, r := range map[string]edit.Revision{
		"current, waits":        {Number: 2, Current: true, Waits: true},
		"current, last healthy": {Number: 2, Current: true, LastHealthy: true},
		"last healthy":          {Number: 1, LastHealthy: true},
		"not rolled out":        {Number: 1},
	} {
		if got := stateOf(r); got != want {
			t.Errorf("%+v is %q, want %q", r, got, want)
		}
	}
}

// TestRolloutWithoutPods: a Deployment that was created while its rollout was paused has no pod that could be replaced.
func TestRolloutWithoutPods(t *testing.T) {
	for replicas, want := range map[int32]string{1: "shop/web: no pod runs, and 1 pod will be started.\n", 3: "shop/web: no pod runs, and 3 pods will be started.\n"} {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 1}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
		deployment.Status.ObservedGeneration = 1
		var out strings.Builder
		printRollout(screen.Fixed(&out, 160, false), "shop/web", deployment, "")
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

// TestPodsToReplace: a Deployment that was just created has pods to replace, although its status does not count them yet.
func TestPodsToReplace(t *testing.T) {
	for _, test := range []struct {
		spec         *int32
		status, want int32
	}{
		{nil, 0, 1},
		{new(int32(2)), 0, 2},
		{new(int32(2)), 3, 3},
		{new(int32(0)), 0, 0},
		{new(int32(0)), 1, 1},
	} {
		deployment := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: test.spec}, Status: appsv1.DeploymentStatus{Replicas: test.status}}
		if got := podsToReplace(deployment); got != test.want {
			t.Errorf("%+v: %d pods", test, got)
		}
	}
}
