// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestPersistedDefaults wants the CRD to write the static defaults into the object, and nothing
// else: a default that is stored can never be changed again.
func TestPersistedDefaults(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	tests := []struct{ name, spec, want string }{
		{"image-alone", "{image: a}", "{image: a, configChangePolicy: Rollout, reconcilePolicy: Enforce, deletionPolicy: Delete}"},
		{
			"everything-empty",
			`{image: a, ports: [{name: http, containerPort: 80}], service: {}, disruptionBudget: {}, serviceAccount: {}, podMetadata: {},
			  routes: [{name: a, hostnames: [a.example.com], paths: [{}]}], livenessProbe: {httpGet: {}}, startupProbe: {grpc: {}},
			  mounts: [{mountPath: /a, emptyDir: {}}], resources: {}, securityContext: {}, podSecurityContext: {}, strategy: {},
			  networkPolicy: {egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}], ports: [{port: 1}]}]}}`,
			`{image: a, configChangePolicy: Rollout, reconcilePolicy: Enforce, deletionPolicy: Delete,
			  ports: [{name: http, containerPort: 80}], service: {type: ClusterIP, sessionAffinity: None},
			  disruptionBudget: {mode: Auto}, serviceAccount: {}, podMetadata: {},
			  routes: [{name: a, hostnames: [a.example.com], paths: [{}]}],
			  livenessProbe: {httpGet: {}}, startupProbe: {grpc: {}},
			  mounts: [{mountPath: /a, emptyDir: {}}], resources: {}, securityContext: {}, podSecurityContext: {}, strategy: {},
			  networkPolicy: {egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}], ports: [{port: 1}]}]}}`,
		},
		{
			"autoscaled", "{image: a, autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 70}}",
			"{image: a, configChangePolicy: Rollout, reconcilePolicy: Enforce, deletionPolicy: Delete, autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 70}}",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := e.sub(t)
			body := e.decode("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: " + test.name + "}\nspec: " + test.spec)[0]
			stored, err := e.resource(body.GroupVersionKind()).Create(t.Context(), body, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fromYAML(t, test.want), stored.Object["spec"]); diff != "" {
				t.Errorf("spec (-want +stored):\n%s", diff)
			}
			const unobserved = `{observedGeneration: -1, desiredReplicas: 0, replicas: 0, updatedReplicas: 0, readyReplicas: 0, availableReplicas: 0,
			  summary: The controller has not observed it yet., conditions: [{type: Ready, status: Unknown, reason: NotObserved,
			  message: The controller has not observed it yet., lastTransitionTime: "1970-01-01T00:00:00Z"}]}`
			if diff := cmp.Diff(fromYAML(t, unobserved), stored.Object["status"]); diff != "" {
				t.Errorf("status of a new object (-want +stored):\n%s", diff)
			}
		})
	}
}

// fromYAML reads YAML as a client reads JSON: whole numbers are int64.
func fromYAML(t *testing.T, text string) any {
	t.Helper()
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	if err := utiljson.Unmarshal(body, &content); err != nil {
		t.Fatal(err)
	}
	return content
}

// TestServedAPI is about what the API server makes of the CRD beside storing objects: the
// subresource scale, the selectable field, the table for kubectl, and the names.
func TestServedAPI(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.create(small, strings.ReplaceAll(named(small, "other"), "web:1", "web:2"))
	applications := e.fairlead.AppsV1().Applications(e.namespace)
	status := `{"status":{"replicas":3,"selector":"a=b","desiredReplicas":4,"updatedReplicas":2,"availableReplicas":1,"urls":["https://a/"],
		"image":"registry.example.com/web:0","summary":"Wait for it.",
		"conditions":[{"type":"Ready","status":"False","reason":"RollingOut","message":"Wait.","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	if _, err := applications.Patch(t.Context(), "web", types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}

	t.Run("scale", func(t *testing.T) {
		client := e.fairlead.AppsV1().RESTClient()
		path := func(verb string) string {
			body := []byte(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web","namespace":"` + e.namespace + `"},"spec":{"replicas":5}}`)
			request := client.Verb(verb).Namespace(e.namespace).Resource(v1.ApplicationResource).Name("web").SubResource("scale")
			if verb == "PUT" {
				request = request.Body(body)
			}
			raw, err := request.Do(t.Context()).Raw()
			if err != nil {
				t.Fatalf("%s scale: %v", verb, err)
			}
			return string(raw)
		}
		var scale autoscalingv1.Scale
		if err := json.Unmarshal([]byte(path("PUT")), &scale); err != nil {
			t.Fatal(err)
		}
		if scale.Spec.Replicas != 5 || scale.Status.Replicas != 3 || scale.Status.Selector != "a=b" {
			t.Errorf("scale is %+v %+v, want 5 replicas asked for, 3 there, selector a=b", scale.Spec, scale.Status)
		}
		if got := e.sub(t).application("web").Spec.Replicas; got == nil || *got != 5 {
			t.Errorf("spec.replicas is %v after kubectl scale, want 5", got)
		}
	})

	t.Run("selectable field", func(t *testing.T) {
		list, err := applications.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.image=registry.example.com/web:2"})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 1 || list.Items[0].Name != "other" {
			t.Errorf("the selector found %d Applications, want the one named other", len(list.Items))
		}
	})

	t.Run("columns", func(t *testing.T) {
		raw, err := e.fairlead.AppsV1().RESTClient().Get().Namespace(e.namespace).Resource(v1.ApplicationResource).Name("web").
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Raw()
		var table metav1.Table
		if err == nil {
			err = json.Unmarshal(raw, &table)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := map[int32][]string{}
		for _, column := range table.ColumnDefinitions {
			got[column.Priority] = append(got[column.Priority], column.Name)
		}
		columns := map[int32][]string{
			0: {"Name", "Ready", "Available", "Reason", "Why", "Age"},
			1: {"Desired", "Updated", "Running image", "Spec image", "URL", "Message"},
		}
		if diff := cmp.Diff(columns, got); diff != "" {
			t.Errorf("columns by priority (-want +got):\n%s", diff)
		}
		cells := table.Rows[0].Cells
		cells = slices.Concat(cells[:5], cells[6:]) // The age changes.
		want := []any{
			"web", "False", 1.0, "RollingOut", "Wait for it.",
			4.0, 2.0, "registry.example.com/web:0", "registry.example.com/web:1", "https://a/", "Wait.",
		}
		if diff := cmp.Diff(want, cells); diff != "" {
			t.Errorf("cells (-want +got):\n%s", diff)
		}
	})

	t.Run("names", func(t *testing.T) {
		list, err := e.kube.Discovery().ServerResourcesForGroupVersion(v1.SchemeGroupVersion.String())
		if err != nil {
			t.Fatal(err)
		}
		var served []string
		for _, resource := range list.APIResources {
			served = append(served, resource.Name)
			if resource.Name == v1.ApplicationClassResource && (!slices.Equal(resource.ShortNames, []string{"flc"}) ||
				!slices.Equal(resource.Categories, []string{"fairlead"}) || resource.SingularName != "applicationclass" || resource.Namespaced) {
				t.Errorf("the resource is %+v", resource)
			}
			if resource.Name != v1.ApplicationResource {
				continue
			}
			if !slices.Equal(resource.ShortNames, []string{"fla"}) || !slices.Equal(resource.Categories, []string{"all", "fairlead"}) ||
				resource.SingularName != "application" || !resource.Namespaced {
				t.Errorf("the resource is %+v", resource)
			}
		}
		slices.Sort(served)
		if want := []string{"applicationclasses", "applicationclasses/status", "applications", "applications/scale", "applications/status"}; !slices.Equal(served, want) {
			t.Errorf("%v are served, want %v", served, want)
		}
	})
}

// TestDescriptions wants a description of every field, so that kubectl explain has something to
// say of each. Those of Kubernetes' own types come from Kubernetes.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	described := 0
	var walk func(path string, props *apiextensionsv1.JSONSchemaProps)
	walk = func(path string, props *apiextensionsv1.JSONSchemaProps) {
		for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
			property := props.Properties[name]
			if at := path + "." + name; at != ".metadata" { // The API server describes it.
				if strings.TrimSpace(property.Description) == "" {
					t.Errorf("%s has no description", at)
				}
				described++
				walk(at, &property)
			}
		}
		if props.Items != nil {
			walk(path+"[]", props.Items.Schema)
		}
		if props.AdditionalProperties != nil {
			walk(path+"{}", props.AdditionalProperties.Schema)
		}
	}
	walk("", e.crd().Spec.Versions[0].Schema.OpenAPIV3Schema)
	if described < 500 {
		t.Errorf("only %d fields were found: the walk does not reach the schema", described)
	}
}
