// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package eject_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/eject"
)

const service = `
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  uid: u
  resourceVersion: "7"
  generation: 2
  labels: {app.kubernetes.io/managed-by: fairlead, apps.fairlead.dev/application: web, team: a}
  annotations: {apps.fairlead.dev/rendered-hash: h, apps.fairlead.dev/owner-uid: gone, note: b}
  managedFields: [{manager: fairlead, operation: Apply}, {manager: fairlead, operation: Update}, {manager: other, operation: Update}]
spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: [{port: 80}]}
status: {loadBalancer: {}}
`

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestClean(t *testing.T) {
	object := parse(t, service)
	for _, test := range []struct {
		name string
		edit func()
		want string
	}{
		{"service", func() {}, `{"metadata":{"annotations":{"apps.fairlead.dev/owner-uid":null,"apps.fairlead.dev/rendered-hash":null},"labels":{"app.kubernetes.io/managed-by":null},"managedFields":[{"manager":"other","operation":"Update"},{"manager":"kubectl-fairlead","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{}}}}}],"resourceVersion":"7","uid":"u"}}`},
		{"other kind, nobody else's fields", func() {
			object.SetKind("ConfigMap")
			object.SetAnnotations(nil)
			object.SetManagedFields(object.GetManagedFields()[:2])
		}, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null,"apps.fairlead.dev/application":null},"managedFields":[{"manager":"kubectl-fairlead","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{}}}}}],"resourceVersion":"7","uid":"u"}}`},
		{"an adopted object's backup", func() {
			object.SetLabels(map[string]string{})
			object.SetManagedFields(nil)
			object.SetAnnotations(map[string]string{"apps.fairlead.dev/backup-digest": "sha256:00"})
		}, ""},
		{"what kubectl applied to a Deployment, whose number of pods the Application took over", func() {
			object.SetKind("Deployment")
			object.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"})
		}, `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":null},"resourceVersion":"7","uid":"u"}}`},
		{"what kubectl applied to another object", func() { object.SetKind("Ingress") }, ""},
		{"managed by another tool", func() {
			object.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "Helm"})
			object.SetManagedFields(nil)
		}, ""},
	} {
		test.edit()
		got, err := eject.Clean(object)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestHandedOver: an Ingress that a user handed over loses the label that Fairlead alone set, and keeps the user's own.
func TestHandedOver(t *testing.T) {
	const ingress = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  labels: {app.kubernetes.io/managed-by: fairlead, app.kubernetes.io/name: web, apps.fairlead.dev/application: web, team: a}
  managedFields:
  - {manager: kubectl-label, operation: Update, fieldsV1: {"f:metadata": {"f:labels": {"f:apps.fairlead.dev/application": {}, "f:app.kubernetes.io/managed-by": {}}}}}
  - {manager: fairlead, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:app.kubernetes.io/name": {}, "f:apps.fairlead.dev/application": {}}}}}
`
	kept := map[string]string{"app.kubernetes.io/name": "web", "team": "a"}
	for name, test := range map[string]struct {
		former, latter string
		want           map[string]string
	}{
		"handed over":                       {want: map[string]string{"team": "a"}},
		"with a name of its own":            {former: `"f:app.kubernetes.io/managed-by": {}`, latter: `"f:app.kubernetes.io/name": {}`, want: kept},
		"with a name in an applied file":    {former: "metadata:\n", latter: "metadata:\n  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{\"metadata\":{\"labels\":{\"app.kubernetes.io/name\":\"x\"}}}'}\n", want: kept},
		"created by Fairlead":               {former: "manager: kubectl-label", latter: "manager: fairlead", want: kept},
		"another kind, which has a backup":  {former: "kind: Ingress", latter: "kind: Deployment", want: kept},
		"of a user who set the name, later": {former: "manager: fairlead", latter: "manager: kubectl-edit", want: kept},
	} {
		object := parse(t, strings.Replace(ingress, test.former, test.latter, 1))
		patch, err := eject.Clean(object)
		if err != nil {
			t.Fatal(err)
		}
		got := eject.Plain(object, false).Object["metadata"].(map[string]any)["labels"]
		if diff := cmp.Diff(any(test.want), got); diff != "" {
			t.Errorf("%s: the labels that stay (-want +got):\n%s", name, diff)
		}
		if removes := strings.Contains(string(patch), `"app.kubernetes.io/name":null`); removes != (len(test.want) == 1) {
			t.Errorf("%s: the patch is %s", name, patch)
		}
	}
}

func TestManifest(t *testing.T) {
	got, err := eject.Manifest(parse(t, service), false)
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: v1
kind: Service
metadata:
  annotations:
    note: b
  labels:
    apps.fairlead.dev/application: web
    team: a
  name: web
  namespace: shop
spec:
  ports:
  - port: 80
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the manifest (-want +got):\n%s", diff)
	}
}
