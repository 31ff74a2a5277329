// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"fairlead.dev/fairlead/pkg/child"
)

// Of some fields the API accepts only one: a variable has a value or takes it from elsewhere, a volume has one source,
// a PodDisruptionBudget one number. The API conventions call such fields a union. Server-side apply does not know
// them. If another writer sets another member, an apply puts ours beside it, and the API server refuses both, again and
// again. So the pre-patch replaces the other member with ours.

// union is a set of fields of which the API accepts one.
type union struct {
	// at is the path of the object that has the fields, by field names alone: items of lists have none.
	at string
	// members are the fields; nil is every field but the name.
	members []string
	// where limits the union to objects in which a member is rendered with this value: strategy Recreate excludes
	// rollingUpdate. "" limits nothing.
	where string
}

// unionsOf declares the unions among the rendered fields of a kind.
func unionsOf(kind child.Kind) []union {
	switch kind {
	case child.Deployment:
		return deploymentUnions()
	case child.PodDisruptionBudget:
		return []union{{at: "spec", members: []string{"maxUnavailable", "minAvailable"}}}
	case child.Service:
		return []union{{at: "spec", members: []string{"sessionAffinity", "sessionAffinityConfig"}, where: "None"}}
	default:
		return nil
	}
}

func deploymentUnions() []union {
	const pod = "spec.template.spec."
	unions := []union{
		{at: "spec.strategy", members: []string{"type", "rollingUpdate"}, where: "Recreate"},
		{at: pod + "volumes"},
	}
	for _, list := range []string{"containers", "initContainers"} {
		unions = append(unions,
			union{at: pod + list + ".env", members: []string{"value", "valueFrom"}},
			union{at: pod + list + ".env.valueFrom", members: []string{"configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"}},
		)
		for _, handler := range []string{"livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop"} {
			unions = append(unions, union{at: pod + list + "." + handler, members: []string{"exec", "grpc", "httpGet", "sleep", "tcpSocket"}})
		}
	}
	return unions
}

// replaceSiblings returns the patch extended so that it replaces other writers' fields with the rendered members of their
// unions.
func replaceSiblings(patch map[string]any, kind child.Kind, desired map[string]any, comparison *typed.Comparison) map[string]any {
	for path := range comparison.Added.All() {
		for i, element := range path {
			if element.FieldName == nil {
				continue
			}
			parent, theirs := path[:i], *element.FieldName
			at, ours := unionSibling(kind, desired, parent, theirs)
			if ours == "" {
				continue
			}
			if patch == nil {
				patch = map[string]any{}
			}
			reach(patch, parent)[theirs] = nil
			reach(patch, at)[ours] = find(desired, append(at.Copy(), fieldpath.PathElement{FieldName: &ours}))
			break
		}
	}
	return patch
}

// unionSibling returns the rendered field that excludes the field at parent, and its path; "" if there is none.
func unionSibling(kind child.Kind, desired map[string]any, parent fieldpath.Path, field string) (at fieldpath.Path, ours string) {
	if kind == child.ConfigMap && parent.String() == ".binaryData" {
		// A ConfigMap has each key once, as text or as bytes.
		data := fieldpath.MakePathOrDie("data")
		if values, _ := find(desired, data).(map[string]any); values[field] != nil {
			return data, field
		}
		return nil, ""
	}
	rendered, _ := find(desired, parent).(map[string]any)
	if _, both := rendered[field]; both {
		return nil, ""
	}
	names := fieldNames(parent)
	for _, u := range unionsOf(kind) {
		if u.at != names || u.members != nil && !slices.Contains(u.members, field) {
			continue
		}
		for name, value := range rendered {
			if name != "name" && (u.members == nil || slices.Contains(u.members, name)) && (u.where == "" || value == u.where) {
				return parent, name
			}
		}
	}
	return nil, ""
}

// fieldNames is a path without the items of lists.
func fieldNames(path fieldpath.Path) string {
	var names []string
	for _, element := range path {
		if element.FieldName != nil {
			names = append(names, *element.FieldName)
		}
	}
	return strings.Join(names, ".")
}
