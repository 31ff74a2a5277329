// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPostEntry(t *testing.T) {
	post := metav1.ManagedFieldsEntry{
		Manager: FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`),
	}
	reduced := metav1.ManagedFieldsEntry{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationUpdate}
	applied, others, ofStatus := post, post, post
	applied.Operation = metav1.ManagedFieldsOperationApply
	others.Manager = "kubectl-edit"
	ofStatus.Subresource = "status"
	for _, test := range []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		want    []metav1.ManagedFieldsEntry
	}{
		{"none", nil, nil},
		{"created by a POST", []metav1.ManagedFieldsEntry{post}, []metav1.ManagedFieldsEntry{reduced}},
		{"among others", []metav1.ManagedFieldsEntry{others, applied, post, ofStatus}, []metav1.ManagedFieldsEntry{reduced}},
		{"applied", []metav1.ManagedFieldsEntry{applied}, nil},
		{"by others", []metav1.ManagedFieldsEntry{others}, nil},
		{"a subresource", []metav1.ManagedFieldsEntry{ofStatus}, nil},
		{"reduced before", []metav1.ManagedFieldsEntry{reduced}, []metav1.ManagedFieldsEntry{reduced}},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: test.entries}}
			if got := CreatedByPost(object); got != (test.want != nil) {
				t.Errorf("created by a POST: %t, want %t", got, test.want != nil)
			}
			got := PostEntry(test.entries)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			object.ManagedFields = got
			if CreatedByPost(object) != (test.want != nil) {
				t.Error("the reduced entries say something else")
			}
		})
	}
}
