// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"slices"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// ensureOrphanFinalizer returns the operations that put the finalizer on an Application with
// deletionPolicy Orphan. The controller puts it on too, but an Application that is deleted before that
// takes its children along.
//
// The API server asks about a changed spec alone. Where a client takes the finalizer off with a write of
// something else, the controller puts it on again. Only the controller takes it off for good, once the
// garbage collector knows the children again. It reads one field, so that the finalizer does not depend on
// whether the rest of the spec can be decoded.
func ensureOrphanFinalizer(o object) []operation {
	var spec struct {
		DeletionPolicy v1.DeletionPolicy `json:"deletionPolicy"`
	}
	if json.Unmarshal(o.Spec, &spec) != nil || spec.DeletionPolicy != v1.DeletionOrphan {
		return nil
	}
	switch finalizers := o.Metadata.Finalizers; {
	case slices.Contains(finalizers, v1.FinalizerOrphan):
		return nil
	case len(finalizers) == 0:
		return []operation{{Op: "add", Path: "/metadata/finalizers", Value: []string{v1.FinalizerOrphan}}}
	default:
		return []operation{{Op: "add", Path: "/metadata/finalizers/-", Value: v1.FinalizerOrphan}}
	}
}
