// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package eject_test

import (
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
