// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// The weight of a backend belongs to the controller that splits traffic, as replicas belong to an autoscaler. But the rules
// of an HTTPRoute are one atomic value: an apply without weights would reset them to the API's default. So the live weights
// become part of what is compared and applied. The hash of the rendering does not include them.

// keepWeights copies the live weights into a rendered HTTPRoute, for each backend of a rule with the same matches.
func keepWeights(desired *child.Desired, live child.Object) error {
	route, ok := live.(*gatewayv1.HTTPRoute)
	if !ok {
		return nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(route)
	if err != nil {
		return fmt.Errorf("read live %s: %w", desired.Ref, err)
	}
	object, err := desired.Object()
	if err != nil {
		return err
	}
	for _, rule := range namedItems(object.Object, "spec", "rules") {
		for _, other := range namedItems(fields, "spec", "rules") {
			if equality.Semantic.DeepEqual(rule["matches"], other["matches"]) {
				copyWeights(namedItems(rule, "backendRefs"), namedItems(other, "backendRefs"))
			}
		}
	}
	desired.Configuration = object
	return nil
}

func copyWeights(rendered, live []map[string]any) {
	for _, backend := range rendered {
		for _, other := range live {
			weight, found, err := unstructured.NestedInt64(other, "weight")
			if found && err == nil && backend["name"] == other["name"] && backend["port"] == other["port"] {
				backend["weight"] = weight
			}
		}
	}
}
