// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// automatic is an HTTPRoute where the cluster serves them, and an Ingress where it does not.
const automatic = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  ports: [{name: http, containerPort: 8080}]
  routes:
  - {name: public, hostnames: [web.example.com], parentRefs: [{name: shared, namespace: infra}]}
`

// TestF25OptionalAPIThatCannotBeListed starts a controller where HTTPRoutes are served and none can be read: the webhook
// that converts them is down, and what is stored needs it. All other work goes on.
func TestF25OptionalAPIThatCannotBeListed(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t, controlplane.WithAuditLog()))
	e.cluster.InstallCRDs(t, unconverted(t))
	stored := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "HTTPRoute", "metadata": map[string]any{"name": "old"}, "spec": map[string]any{},
	}}
	old := schema.GroupVersionResource{Group: child.HTTPRoute.Group, Version: "v1beta1", Resource: child.HTTPRoute.Resource}
	e.eventually("an HTTPRoute of the older version is stored", func() (bool, string) {
		_, err := e.dynamic.Resource(old).Namespace(e.namespace).Create(e.Context(), stored, metav1.CreateOptions{})
		return err == nil, fmt.Sprint(err)
	})
	e.run()
	e.apply(automatic, named(small, "unconcerned"))

	e.waitReady("unconcerned")
	e.waitCondition("web", v1.ConditionAvailable, metav1.ConditionTrue, "MinimumReplicasAvailable")
	web := e.waitCondition("web", v1.ConditionRoutesReady, metav1.ConditionFalse, v1.ReasonAPINotServed)
	message := meta.FindStatusCondition(web.Status.Conditions, v1.ConditionRoutesReady).Message
	if want := "cannot list httproutes"; !strings.Contains(message, want) {
		t.Errorf("it says %q, want %q in it", message, want)
	}
	if e.live(child.Ingress, "web") != nil {
		t.Error("there is an Ingress, although the cluster serves HTTPRoutes")
	}

	broken := e.definition().Object["spec"].(map[string]any)["conversion"]
	e.convert(map[string]any{"strategy": "None", "webhook": nil})
	e.accept("web")
	e.waitReady("web")

	// Nor is a child let go that cannot be read: the garbage collector would delete it with the Application.
	e.stop()
	e.convert(broken)
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.DeletionPolicy = v1.DeletionOrphan })
	e.run()
	e.waitFinalizers("web", v1.FinalizerOrphan)
	remove[v1.Application](e, "web")
	web = e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDeleting)
	message = meta.FindStatusCondition(web.Status.Conditions, v1.ConditionReady).Message
	if want := "keep HTTPRoute web"; !strings.Contains(message, want) {
		t.Errorf("it says %q, want %q in it", message, want)
	}
	e.convert(map[string]any{"strategy": "None", "webhook": nil})
	waitGone[v1.Application](e, "web")
	if route := e.live(child.HTTPRoute, "web"); route == nil || child.Collectable(route, web) {
		t.Errorf("the HTTPRoute is %v, want it without an owner", route)
	}
}

// TestS8UnseenRouteIsNotTaken: an Application only observes, and asks for another host name than its HTTPRoute serves. While
// HTTPRoutes cannot be listed, a tenant of another namespace asks for the host name that is served. It does not get it, nor
// afterwards, as long as it is served.
func TestS8UnseenRouteIsNotTaken(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t, controlplane.WithAuditLog()))
	attacker := newEnv(t, e.cluster)
	both := func(s *setup) { s.Namespaces = append(s.Namespaces, attacker.namespace) }
	e.cluster.InstallCRDs(t, unconverted(t))
	broken := e.definition().Object["spec"].(map[string]any)["conversion"]
	e.convert(map[string]any{"strategy": "None", "webhook": nil})
	e.run(both)
	e.apply(automatic)
	e.accept("web")
	e.waitReady("web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) {
		spec.ReconcilePolicy, spec.Routes[0].Hostnames = v1.ReconcileObserve, []string{"other.example.com"}
	})
	e.eventually("the edit is observed", func() (bool, string) {
		application := e.application("web")
		return application.Status.ObservedGeneration == application.Generation, describe(application)
	})
	e.stop()
	e.convert(broken)
	e.run(both)
	attacker.create(routedTo("thief", "hostnames: [web.example.com]"))
	stalled := attacker.waitCondition("thief", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteConflict)
	if message := describe(stalled); !strings.Contains(message, "cannot list HTTPRoutes") {
		t.Errorf("the thief says %s", message)
	}
	e.convert(map[string]any{"strategy": "None", "webhook": nil})
	attacker.eventually("the thief is refused for what it sees", func() (bool, string) {
		message := describe(attacker.application("thief"))
		return strings.Contains(message, "belongs to Application "+e.namespace+"/web"), message
	})
	if hosts := attacker.hosts(); len(hosts) > 0 {
		t.Errorf("the thief serves %q", hosts)
	}
}

// definition is that of HTTPRoutes.
func (e *env) definition() *unstructured.Unstructured {
	e.Helper()
	definition, err := e.resource(definitions).Get(e.Context(), child.HTTPRoute.Resource+"."+child.HTTPRoute.Group, metav1.GetOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return definition
}

// convert changes how HTTPRoutes are converted.
func (e *env) convert(conversion any) {
	e.Helper()
	body, err := json.Marshal(map[string]any{"spec": map[string]any{"conversion": conversion}})
	if err != nil {
		e.Fatal(err)
	}
	if _, err = e.resource(definitions).Patch(e.Context(), e.definition().GetName(), types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		e.Fatal(err)
	}
}

var definitions = schema.GroupVersionKind{Group: apiextensionsv1.GroupName, Version: "v1", Kind: "CustomResourceDefinition"}

// unconverted is a directory with a definition of HTTPRoutes that are stored in the older of two versions, and converted
// by a webhook that does not answer.
func unconverted(t testing.TB) string {
	t.Helper()
	directory := gatewayDefinition(t)
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the definition of HTTPRoutes: %q, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, definition); err != nil {
		t.Fatal(err)
	}
	// Nothing listens at this port.
	url := "https://127.0.0.1:1/convert"
	definition.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url},
		},
	}
	for i := range definition.Spec.Versions {
		definition.Spec.Versions[i].Storage = definition.Spec.Versions[i].Name == "v1beta1"
	}
	if content, err = yaml.Marshal(definition); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	return directory
}
