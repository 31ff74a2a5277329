// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package childcodec decodes children that a dynamic client has read, for those who have no caches: the plugin and the
// aggregated API server.
package childcodec

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// Decode makes a child typed, as the controller has it. ServiceMonitors have no Go type here and stay as they are.
func Decode(kind child.Kind, object *unstructured.Unstructured) (child.Object, error) {
	var typed child.Object
	switch kind {
	case child.ServiceMonitor:
		return object, nil
	case child.HTTPRoute:
		typed = &gatewayv1.HTTPRoute{}
	default:
		empty, err := scheme.Scheme.New(kind.GroupVersionKind())
		if err != nil {
			return nil, fmt.Errorf("decode %s: %w", kind, err)
		}
		var ok bool
		if typed, ok = empty.(child.Object); !ok {
			return nil, fmt.Errorf("%T has no metadata", empty)
		}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, object.GetName(), err)
	}
	return typed, nil
}
