// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
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

// TestOptionalAPIThatCannotBeListed starts a controller where HTTPRoutes are served and none can be read: the webhook
// that converts them is down, and what is stored needs it. All other work goes on.
func TestOptionalAPIThatCannotBeListed(t *testing.T) {
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
	if want := "does not list them"; !strings.Contains(message, want) {
		t.Errorf("it says %q, want %q in it", message, want)
	}
	if e.live(child.Ingress, "web") != nil {
		t.Error("there is an Ingress, although the cluster serves HTTPRoutes")
	}

	definition := schema.GroupVersionKind{Group: apiextensionsv1.GroupName, Version: "v1", Kind: "CustomResourceDefinition"}
	_, err := e.resource(definition).Patch(e.Context(), child.HTTPRoute.Resource+"."+child.HTTPRoute.Group, types.MergePatchType,
		[]byte(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e.accept("web")
	e.waitReady("web")
}

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
	// Nobody listens there.
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
