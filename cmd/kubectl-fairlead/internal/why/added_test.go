// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	"fairlead.dev/fairlead/pkg/child"
)

// TestAddedContainers: under Observe, another client may set the image of a container that Fairlead wrote. That does not add it.
func TestAddedContainers(t *testing.T) {
	loaded := clustertest.Load(t, "paused")
	deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}, {Name: "proxy"}}
	containers := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate,
			FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{"f:containers":` + fields + `}}}}`),
		}
	}
	deployment.ManagedFields = []metav1.ManagedFieldsEntry{
		containers("fairlead", `{"k:{\"name\":\"web\"}":{".":{},"f:name":{}}}`),
		containers("kubectl-set", `{"k:{\"name\":\"web\"}":{"f:image":{}},"k:{\"name\":\"proxy\"}":{".":{},"f:image":{},"f:name":{}}}`),
	}
	added := why.AddedContainers(loaded.Application, deployment)
	if len(added) != 1 || added[0].Name != "proxy" || added[0].Manager != "kubectl-set" {
		t.Errorf("%+v, want proxy alone, by kubectl-set", added)
	}
}
