// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestDeletion: what is said of children is true of each Application.
func TestDeletion(t *testing.T) {
	application := func(name string, policy v1.DeletionPolicy) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{
			"kind": v1.ApplicationKind, "metadata": map[string]any{"namespace": "shop", "name": name}, "spec": map[string]any{"deletionPolicy": string(policy)},
		}}
	}
	class := unstructured.Unstructured{Object: map[string]any{"kind": v1.ApplicationClassKind, "metadata": map[string]any{"name": "gold"}}}
	api, web := application("api", v1.DeletionDelete), application("web", v1.DeletionOrphan)
	for want, all := range map[string][]unstructured.Unstructured{
		"1 Application (shop/api), with all children": {api},
		"1 Application (shop/web)":                    {web},
		"2 Applications (shop/api, shop/web), with all children, except where a line below says that they stay": {api, web},
		"1 ApplicationClass (gold)": {class},
	} {
		if got := deletion(all); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
