// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/pkg/child"
)

// TestWithoutUndone: only the client that put the former revision back loses what it put into the pod template.
func TestWithoutUndone(t *testing.T) {
	entries, err := withoutUndone([]metav1.ManagedFieldsEntry{
		entry(FieldManager, "Apply", "", `{"f:spec":{"f:template":{"f:spec":{"f:dnsPolicy":{}}}}}`),
		entry("kubectl-rollout", "Update", "", `{"f:metadata":{"f:annotations":{"f:apps.fairlead.dev/revision":{},"f:kubernetes.io/change-cause":{}}},`+
			`"f:spec":{"f:template":{"f:spec":{"f:hostNetwork":{}}}}}`),
		entry("kubectl-edit", "Update", "", `{"f:spec":{"f:template":{"f:spec":{"f:hostPID":{}}}}}`),
	}, child.Deployment)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := yaml.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	const want = `- apiVersion: apps/v1
  fieldsType: FieldsV1
  fieldsV1:
    f:metadata:
      f:annotations:
        f:apps.fairlead.dev/revision: {}
        f:kubernetes.io/change-cause: {}
  manager: kubectl-rollout
  operation: Update
- apiVersion: apps/v1
  fieldsType: FieldsV1
  fieldsV1:
    f:spec:
      f:template:
        f:spec:
          f:hostPID: {}
  manager: kubectl-edit
  operation: Update
- apiVersion: apps/v1
  fieldsType: FieldsV1
  fieldsV1:
    f:spec:
      f:template:
        f:spec:
          f:dnsPolicy: {}
          f:hostNetwork: {}
  manager: fairlead
  operation: Apply
`
	if string(encoded) != want {
		t.Errorf("the entries are\n%s\nwant\n%s", encoded, want)
	}
}
