// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestNamesTheOtherWriter: a manager of other fields is not the one that undoes what Fairlead sets.
func TestNamesTheOtherWriter(t *testing.T) {
	const (
		set   = "kubectl-set wrote it (update)\n"
		scale = "kube-controller-manager wrote it (update)\n"
		gone  = "   - Deployment/web metadata.managedFields: the other writer can no longer be seen here\n"
	)
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, FieldsType: "FieldsV1",
			Time: &metav1.Time{Time: treetest.Now.Add(-time.Minute)}, FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	for _, test := range []struct {
		fields           string
		set, scale, gone bool
	}{
		{".spec.replicas", false, true, false},
		{`.spec.template.spec.containers[name="web"].image, .spec.replicas`, true, true, false},
		{`.spec.template.spec.containers[name="web"].image and 3 more`, true, false, false},
		{`.spec.template.spec.containers[name="web"].resources.limits`, false, false, true},
		{`.metadata.annotations.example.com/owner`, false, false, true},
		{".spec.rep", false, false, true},
		{"what Fairlead sets", true, false, false},
	} {
		loaded := clustertest.Load(t, "contended")
		message := "Another writer keeps changing " + test.fields + "; repair is backing off."
		setResource(loaded, child.Service.Kind, v1.ResourceSynced, "")
		setResource(loaded, child.Deployment.Kind, v1.ResourceFailed, message)
		loaded.Application.Status.Conditions[0].Message = "Deployment web: " + message
		childOf(t, loaded, child.Deployment.Kind).SetManagedFields([]metav1.ManagedFieldsEntry{
			entry("kube-controller-manager", "scale", `{"f:spec":{"f:replicas":{}}}`),
			entry("kube-controller-manager", "status", `{"f:status":{"f:replicas":{}}}`),
			entry("kubectl-set", "", `{"f:metadata":{"f:annotations":{".":{},"f:a":{}}},"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:image":{}}}}}}}`),
		})
		wantParts(t, test.fields, shown(t, loaded), map[string]bool{set: test.set, scale: test.scale, gone: test.gone})
	}
}
