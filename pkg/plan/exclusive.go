// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Of some fields the API allows only one: a variable has a value or takes it from elsewhere, a
// volume has one source, a PodDisruptionBudget one number. Server-side apply knows nothing of
// that. Somebody who sets the other one owns it, an apply puts ours beside it, and the API server
// refuses the two, for ever. So the other one is exchanged for ours before the apply.

// exchangeExclusive adds to the patch what takes others' fields away that exclude ours, and
// returns it.
func exchangeExclusive(patch map[string]any, desired map[string]any, comparison *typed.Comparison) map[string]any {
	for path := range comparison.Added.All() {
		for i, element := range path {
			if element.FieldName == nil {
				continue
			}
			parent, theirs := path[:i], *element.FieldName
			beside, ours := rival(desired, parent, theirs)
			if ours == "" {
				continue
			}
			if patch == nil {
				patch = map[string]any{}
			}
			reach(patch, parent)[theirs] = nil
			reach(patch, beside)[ours] = find(desired, append(beside.Copy(), fieldpath.PathElement{FieldName: &ours}))
			break
		}
	}
	return patch
}

// rival returns the rendered field that cannot stand together with the field at parent, and
// where it is, or "".
func rival(desired map[string]any, parent fieldpath.Path, field string) (at fieldpath.Path, ours string) {
	if parent.String() == ".binaryData" {
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
	one := oneOf(parent, rendered, field)
	for _, name := range one {
		if _, found := rendered[name]; found {
			return parent, name
		}
	}
	return nil, ""
}

// oneOf returns the fields at parent that exclude the given one.
func oneOf(parent fieldpath.Path, rendered map[string]any, field string) []string {
	var choice []string
	switch name := lastName(parent); {
	case name == "env":
		choice = []string{"value", "valueFrom"}
	case name == "valueFrom":
		choice = []string{"configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"}
	case slices.Contains([]string{"livenessProbe", "readinessProbe", "startupProbe", "postStart", "preStop"}, name):
		choice = []string{"exec", "grpc", "httpGet", "sleep", "tcpSocket"}
	case name == "volumes":
		// The name, which is the key, is rendered too, and so never asked for; all else is sources.
		for source := range rendered {
			if source != "name" {
				return []string{source}
			}
		}
	case name == "strategy" && rendered["type"] == "Recreate":
		choice = []string{"rollingUpdate", "type"}
	case parent.String() == ".spec" && rendered["sessionAffinity"] == "None" && field == "sessionAffinityConfig":
		choice = []string{"sessionAffinity", "sessionAffinityConfig"}
	case parent.String() == ".spec":
		choice = []string{"maxUnavailable", "minAvailable"}
	}
	if !slices.Contains(choice, field) {
		return nil
	}
	return choice
}

// lastName is the name of the field that the path leads to, or of the list that it is an item of.
func lastName(path fieldpath.Path) string {
	for _, element := range slices.Backward(path) {
		if element.FieldName != nil {
			return *element.FieldName
		}
	}
	return ""
}
