// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/pkg/child"
)

// The comparison matches list items by their keys and ignores their order. In most lists the order means nothing. But init
// containers run one after the other, a variable may use earlier ones, and kubectl defaults to the first container. An apply
// restores the order of its items, and leaves the items of other clients between them.

// reordered returns the lists of the pod template in which the rendered items are in another order than rendered.
func reordered(desired *unstructured.Unstructured, live child.Object) []string {
	deployment, ok := live.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	const path = ".spec.template.spec."
	pod := &deployment.Spec.Template.Spec
	var lists []string
	for _, list := range []struct {
		name string
		live []corev1.Container
	}{{"containers", pod.Containers}, {"initContainers", pod.InitContainers}} {
		rendered := namedItems(desired.Object, "spec", "template", "spec", list.name)
		if !sameOrder(rendered, list.live, func(c corev1.Container) string { return c.Name }) {
			lists = append(lists, path+list.name)
		}
		for _, container := range rendered {
			i := slices.IndexFunc(list.live, func(c corev1.Container) bool { return c.Name == container["name"] })
			if i < 0 {
				continue
			}
			if !sameOrder(namedItems(container, "env"), list.live[i].Env, func(v corev1.EnvVar) string { return v.Name }) {
				lists = append(lists, path+list.name+`[name="`+list.live[i].Name+`"].env`)
			}
		}
	}
	return lists
}

// sameOrder reports whether the rendered items that are live are in the rendered order.
func sameOrder[T any](rendered []map[string]any, live []T, name func(T) string) bool {
	positions := make(map[any]int, len(live))
	for i, l := range slices.Backward(live) {
		positions[name(l)] = i // Of two with the same name, the first counts.
	}
	next := 0
	for _, item := range rendered {
		i, found := positions[item["name"]]
		if !found {
			continue
		}
		if i < next {
			return false
		}
		next = i + 1
	}
	return true
}

// namedItems are the items of a rendered list.
func namedItems(object map[string]any, path ...string) []map[string]any {
	list, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	var items []map[string]any
	values, _ := list.([]any)
	for _, value := range values {
		if item, ok := value.(map[string]any); ok {
			items = append(items, item)
		}
	}
	return items
}
