// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package managers reads which client manages a field.
package managers

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Has reports whether an entry of metadata.managedFields has the field.
func Has(entry metav1.ManagedFieldsEntry, field fieldpath.Path) bool {
	set := &fieldpath.Set{}
	return entry.FieldsV1 != nil && set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) == nil && set.Has(field)
}
