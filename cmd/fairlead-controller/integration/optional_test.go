// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// The Prometheus Operator is no requirement of this module, since it requires a framework. Its
// definitions are in its module all the same, which is fetched like any other, and pinned here.
const (
	monitorModule = "github.com/prometheus-operator/prometheus-operator@v0.93.1"
	monitorSum    = "h1:4Juk8v93RdG1DSGD/mGp+SeQKPmnlLIj2iq3blLZgFY="
)

// routed has a child of each optional kind.
const routed = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  ports: [{name: http, containerPort: 8080}]
  monitoring: {interval: 30s}
  routes:
  - name: public
    type: HTTPRoute
    hostnames: [web.example.com]
    parentRefs: [{name: shared, namespace: infra}]
`

// gatewayDefinition is a directory with the definition of HTTPRoutes, of the version in go.mod.
func gatewayDefinition(t testing.TB) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api")
	output, err := command.Output()
	if err != nil {
		t.Fatalf("find the module of the Gateway API: %v", err)
	}
	return only(t, filepath.Join(strings.TrimSpace(string(output)), "config", "crd", "standard", "gateway.networking.k8s.io_httproutes.yaml"))
}

// monitorDefinition is a directory with the definition of ServiceMonitors.
func monitorDefinition(t testing.TB) string {
	t.Helper()
	return controlplane.DefinitionsOf(t, monitorModule, monitorSum, "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml")
}

// only copies one file to a directory of its own.
func only(t testing.TB, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, filepath.Base(file)), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return directory
}

// uninstall deletes the definition of a kind, and with it every object, and waits until it is gone.
func (e *env) uninstall(kind child.Kind) {
	e.Helper()
	definitions := e.dynamic.Resource(schema.GroupVersionResource{Group: apiextensionsv1.GroupName, Version: "v1", Resource: "customresourcedefinitions"})
	name := kind.Resource + "." + kind.Group
	if err := definitions.Delete(e.Context(), name, metav1.DeleteOptions{}); err != nil {
		e.Fatal(err)
	}
	e.eventually(name+" is gone", func() (bool, string) {
		_, err := definitions.Get(e.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// accept answers for an HTTPRoute as a Gateway controller does, for all of its parents.
func (e *env) accept(name string) {
	e.Helper()
	e.answer(name, "True", "Accepted", "True", "ResolvedRefs")
}

// answer writes the status of an HTTPRoute, once it is there.
func (e *env) answer(name, accepted, acceptedReason, resolved, resolvedReason string) {
	e.Helper()
	e.eventually("HTTPRoute "+name+" is answered", func() (bool, string) {
		route := e.live(child.HTTPRoute, name)
		if route == nil {
			return false, "there is none"
		}
		var parents []any
		refs, _ := route.Object["spec"].(map[string]any)["parentRefs"].([]any)
		for _, ref := range refs {
			condition := func(kind, status, reason string) any {
				return map[string]any{
					"type": kind, "status": status, "reason": reason, "message": "so it is", "observedGeneration": route.GetGeneration(),
					"lastTransitionTime": "2026-01-01T00:00:00Z",
				}
			}
			parents = append(parents, map[string]any{
				"parentRef": ref, "controllerName": "example.com/gateway",
				"conditions": []any{condition("Accepted", accepted, acceptedReason), condition("ResolvedRefs", resolved, resolvedReason)},
			})
		}
		body, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": route.GetResourceVersion()}, "status": map[string]any{"parents": parents}})
		if err != nil {
			e.Fatal(err)
		}
		_, err = e.children(child.HTTPRoute).Patch(e.Context(), name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: "gateway"}, "status")
		return err == nil, fmt.Sprint(err)
	})
}

// TestF15OptionalAPIs takes one controller, which is never restarted, through the life of both APIs.
func TestF15OptionalAPIs(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t, controlplane.WithAuditLog()))
	e.run()
	e.apply(routed, named(routed, "other"), named(small, "unconcerned"))

	// Without the APIs.
	e.waitCondition("web", v1.ConditionAvailable, metav1.ConditionTrue, "MinimumReplicasAvailable")
	e.waitCondition("web", v1.ConditionRoutesReady, metav1.ConditionFalse, v1.ReasonAPINotServed)
	e.waitCondition("web", v1.ConditionMonitoringReady, metav1.ConditionFalse, v1.ReasonAPINotServed)
	e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonAPINotServed)
	e.waitReady("unconcerned")
	e.quiet("while no API is served")

	// They appear.
	since := e.cluster.AuditCursor(t)
	e.cluster.InstallCRDs(t, gatewayDefinition(t))
	e.cluster.InstallCRDs(t, monitorDefinition(t))
	e.waitCondition("web", v1.ConditionRoutesReady, metav1.ConditionUnknown, v1.ReasonRoutesPending)
	e.waitCondition("web", v1.ConditionMonitoringReady, metav1.ConditionTrue, v1.ReasonApplied)
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRoutesPending)
	e.answer("web", "False", "NotAllowedByListeners", "True", "ResolvedRefs")
	e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRoutesNotAccepted)
	e.answer("web", "True", "Accepted", "False", "BackendNotFound")
	e.waitCondition("web", v1.ConditionReconciling, metav1.ConditionTrue, v1.ReasonRoutesNotAccepted)
	e.accept("web")
	e.accept("other")
	e.waitReady("web")
	e.waitReady("other")
	for _, event := range e.written(since) {
		if event.Name == "unconcerned" {
			t.Errorf("an Application without routes and monitoring was written: %s", event)
		}
	}

	// Drift of each kind.
	e.patch(child.HTTPRoute, "web", types.MergePatchType, `{"spec":{"hostnames":["evil.example.com"]}}`)
	e.waitFields(child.HTTPRoute, "web", fields{"spec.hostnames": `["web.example.com"]`})
	e.accept("web")
	e.patch(child.ServiceMonitor, "web", types.MergePatchType, `{"spec":{"endpoints":[{"port":"other"}]}}`)
	e.waitFields(child.ServiceMonitor, "web", fields{"spec.endpoints[0].port": "http", "spec.endpoints[0].interval": "30s"})
	e.deleteChild(child.ServiceMonitor, "web")
	e.waitFields(child.ServiceMonitor, "web", fields{"spec.endpoints[0].port": "http"})

	// A weight is left to who sets it, at rest and when the route changes.
	e.waitReady("web")
	e.patch(child.HTTPRoute, "web", types.JSONPatchType, `[{"op":"replace","path":"/spec/rules/0/backendRefs/0/weight","value":7}]`)
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Routes[0].Annotations = map[string]string{"example.com/a": "b"} })
	e.waitFields(child.HTTPRoute, "web", fields{`metadata.annotations.example\.com/a`: "b", "spec.rules[0].backendRefs[0].weight": "7"})
	e.accept("web")
	e.waitReady("web")
	e.quiet("while all is served")

	// They go, and come back.
	e.uninstall(child.HTTPRoute)
	e.uninstall(child.ServiceMonitor)
	e.waitCondition("web", v1.ConditionRoutesReady, metav1.ConditionFalse, v1.ReasonAPINotServed)
	e.waitCondition("other", v1.ConditionMonitoringReady, metav1.ConditionFalse, v1.ReasonAPINotServed)
	e.waitReady("unconcerned")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" })
	e.waitFields(child.Deployment, "web", fields{"spec.template.spec.containers[0].image": "registry.example.com/web:2", "status.availableReplicas": "1"})
	e.quiet("while the APIs are gone")
	e.cluster.InstallCRDs(t, gatewayDefinition(t))
	e.cluster.InstallCRDs(t, monitorDefinition(t))
	e.accept("web")
	e.waitReady("web")
	e.waitCondition("other", v1.ConditionMonitoringReady, metav1.ConditionTrue, v1.ReasonApplied)

	e.applyFiles(filepath.Join(examples, optionalExample))
	e.accept("gateway")
	e.accept("gateway-redirect")
	e.waitReady("gateway")
	e.waitCondition("gateway", v1.ConditionMonitoringReady, metav1.ConditionTrue, v1.ReasonApplied)
}

// quiet wants no request of the controller for a while, but for watches, which may be renewed.
func (e *env) quiet(when string) {
	e.Helper()
	const long = 5 * time.Second
	since := e.cluster.AuditCursor(e)
	started, asked := time.Now(), 0
	e.within(3*long, "the controller rests "+when, func() (bool, string) {
		var last string
		count := 0
		for _, event := range since.Events(e, controlplane.FromUserAgent(controllerAgent)) {
			if event.Verb != "watch" && event.Resource != "leases" && event.Resource != "events" {
				count, last = count+1, event.String()
			}
		}
		if count > asked {
			started, asked = time.Now(), count
		}
		return time.Since(started) > long, last
	})
	if asked > 60 {
		e.Errorf("%d requests %s", asked, when)
	}
}

// TestRouteSwitches turns an Ingress into an HTTPRoute and back. Both have the name of the
// Application, the new one is there before the old one goes, and nothing is left behind.
func TestRouteSwitches(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t, controlplane.WithAuditLog()))
	e.run()
	ingress := strings.Replace(routed, "type: HTTPRoute", "type: Ingress", 1)
	ingress = strings.Replace(ingress, "    parentRefs: [{name: shared, namespace: infra}]\n", "", 1)
	e.apply(ingress)
	e.waitReady("web")

	// The API is missing: what there is goes on to serve.
	e.apply(routed)
	e.waitCondition("web", v1.ConditionRoutesReady, metav1.ConditionFalse, v1.ReasonAPINotServed)
	if e.live(child.Ingress, "web") == nil {
		t.Error("the Ingress is gone before there is an HTTPRoute")
	}
	since := e.cluster.AuditCursor(t)
	e.cluster.InstallCRDs(t, gatewayDefinition(t))

	// No Gateway has accepted the HTTPRoute.
	message := ""
	e.waitApplication("web", "RoutesReady waits for the Gateway", func(application *v1.Application) bool {
		condition := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionRoutesReady)
		if condition == nil {
			return false
		}
		message = condition.Message
		return condition.Reason == v1.ReasonRoutesPending && !strings.Contains(message, "just written")
	})
	if want := "HTTPRoute web: Gateway infra/shared has not reported on it yet. Check that it exists and that its controller runs." +
		" Ingress web stays until the HTTPRoute is accepted."; message != want {
		t.Errorf("RoutesReady says %q, want %q", message, want)
	}
	if got := e.application("web").Status.URLs; len(got) != 1 || got[0] != "http://web.example.com/" {
		t.Errorf("the URLs of the Ingress that stays are %q", got)
	}
	e.accept("web")
	e.waitReady("web")
	e.eventually("the Ingress is deleted", func() (bool, string) { return e.live(child.Ingress, "web") == nil, "it is there" })
	e.inOrder(since, "create httproutes", "delete ingresses")
	if got := e.application("web").Status.URLs; len(got) != 1 || got[0] != "http://web.example.com/" {
		t.Errorf("the URLs are %q", got)
	}

	// A redirect is an HTTPRoute of its own, and goes with its route.
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Routes[0].TLS = &v1.RouteTLS{Redirect: new(true)} })
	e.waitFields(child.HTTPRoute, "web-redirect", fields{"spec.parentRefs[0].sectionName": "http"})
	e.waitFields(child.HTTPRoute, "web", fields{"spec.parentRefs[0].sectionName": "https"})
	e.accept("web-redirect")
	e.accept("web")
	if got := e.waitReady("web").Status.URLs; len(got) != 1 || got[0] != "https://web.example.com/" {
		t.Errorf("the URLs are %q", got)
	}

	// Another Application cannot have the host name by the other API.
	e.create(strings.ReplaceAll(named(ingress, "thief"), "thief.example.com", "web.example.com"))
	e.waitCondition("thief", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteConflict)

	since = e.cluster.AuditCursor(t)
	e.editSpec("web", func(spec *v1.ApplicationSpec) {
		spec.Routes[0].Type, spec.Routes[0].ParentRefs, spec.Routes[0].TLS = v1.RouteIngress, nil, nil
	})
	e.eventually("the HTTPRoutes are deleted", func() (bool, string) {
		return e.live(child.HTTPRoute, "web") == nil && e.live(child.HTTPRoute, "web-redirect") == nil, "one is there"
	})
	e.waitReady("web")
	e.inOrder(since, "create ingresses", "delete httproutes")
}

// inOrder wants the first request of each kind in this order.
func (e *env) inOrder(since *controlplane.AuditCursor, first, second string) {
	e.Helper()
	e.eventually(first+" and "+second+" are in the audit log", func() (bool, string) {
		var order []string
		for _, event := range e.written(since) {
			if request := event.Verb + " " + event.Resource; request == first || request == second && event.Name == "web" {
				order = append(order, request)
			}
		}
		return len(order) > 1 && order[0] == first && order[len(order)-1] == second, fmt.Sprint(order)
	})
}
