// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// Only our own entry without a subresource proves that we created the object by a POST. Entries of an apply, of other
// managers and of the status prove nothing, and are dropped.
func TestPackChildThatWasNotPosted(t *testing.T) {
	for name, entry := range map[string]metav1.ManagedFieldsEntry{
		"applied by us":    {Manager: apply.FieldManager, Operation: metav1.ManagedFieldsOperationApply},
		"updated by other": {Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate},
		"status by us":     {Manager: apply.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status"},
	} {
		object := &corev1.ConfigMap{ObjectMeta: fat()}
		object.ManagedFields = []metav1.ManagedFieldsEntry{entry}
		before := apply.CreatedByPost(object)
		after := decoded(t, child.ConfigMap, object)
		if before || apply.CreatedByPost(after) || after.ManagedFields != nil {
			t.Errorf("%s: created by POST %t before, and after that the managed fields are %v", name, before, after.ManagedFields)
		}
	}
}

func TestForeignTypesAreLeftAlone(t *testing.T) {
	got, err := encodeChild("no object")
	if err != nil || got != "no object" {
		t.Errorf("the string became %v, %v", got, err)
	}
	object := &corev1.ConfigMap{ObjectMeta: fat()}
	before := object.DeepCopy()
	if got, err := trimApplication(object); err != nil || got != any(object) {
		t.Errorf("the ConfigMap became %v, %v", got, err)
	}
	if diff := cmp.Diff(before, object); diff != "" {
		t.Errorf("ConfigMap (-before +after):\n%s", diff)
	}
}
