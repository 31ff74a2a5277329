// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/nearest"
	"fairlead.dev/fairlead/pkg/crdschema"
)

const unknownMessage = "unknown field: remove it, or correct its name"

func didYouMean(names ...string) string {
	return "unknown field: did you mean " + strings.Join(names, " or ") + "?"
}

// kubernetesWords are fields of Kubernetes' own kinds, and the fields that an Application has for the same purpose.
var kubernetesWords = map[string][]string{
	"averageUtilization":       {"targetCPUUtilizationPercentage", "targetMemoryUtilizationPercentage"},
	"class":                    {"className"},
	"containers":               {"sidecars"},
	"cpu":                      {"requests", "limits"},
	"horizontalPodAutoscaler":  {"autoscaling"},
	"host":                     {"hostnames"},
	"hosts":                    {"hostnames"},
	"hpa":                      {"autoscaling"},
	"ingress":                  {"routes"},
	"memory":                   {"requests", "limits"},
	"name":                     {"secretName"},
	"pdb":                      {"disruptionBudget"},
	"podDisruptionBudget":      {"disruptionBudget"},
	"port":                     {"containerPort", "servicePort"},
	"serviceMonitor":           {"monitoring"},
	"targetAverageUtilization": {"targetCPUUtilizationPercentage", "targetMemoryUtilizationPercentage"},
	"targetPort":               {"containerPort"},
	"volumeMounts":             {"mounts"},
	"volumes":                  {"mounts"},
}

// unknownField names the fields that the user may have meant: those beside it for the same purpose or with nearly the same name, and
// those elsewhere with exactly this name.
func unknownField(resource *crdschema.Resource, path string) *field.Error {
	parent, name := "", path
	if at := strings.LastIndex(path, "."); at >= 0 {
		parent, name = path[:at], path[at+1:]
	}
	beside := fieldsOf(resource.Structural, parent)
	words, listed := kubernetesWords[name]
	meant := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !hasField(beside, word) })
	if near := nearest.To(name, slices.Collect(maps.Keys(beside))); near != "" && len(meant) == 0 {
		meant = append(meant, near)
	}
	if !listed {
		meant = append(meant, elsewhere(resource.Structural, parent, name)...)
	}
	if len(meant) == 0 {
		return field.Forbidden(field.NewPath(path), unknownMessage)
	}
	return field.Forbidden(field.NewPath(path), didYouMean(meant...))
}

func hasField(fields map[string]schema.Structural, name string) bool {
	_, has := fields[name]
	return has
}

// elsewhere returns the fields with exactly this name: those in the maps beside the unknown field, such as httpGet.path, or else those
// in the spec; none if there are many.
func elsewhere(of *schema.Structural, parent, name string) []string {
	const helpful = 2
	var paths []string
	for beside, fields := range fieldsOf(of, parent) {
		if parent != "spec" && beside != "status" && hasField(fields.Properties, name) {
			paths = append(paths, beside+"."+name)
		}
	}
	if len(paths) == 0 {
		paths = inSpec(of, name)
	}
	if len(paths) > helpful {
		return nil
	}
	slices.Sort(paths)
	return paths
}

// inSpec returns the paths of the fields in the spec that are called so, with or without the name of the field above them:
// serviceType is spec.service.type. None is more than four fields deep.
func inSpec(of *schema.Structural, name string) (paths []string) {
	level := map[string]schema.Structural{"spec": of.Properties["spec"]}
	for range 4 {
		next := map[string]schema.Structural{}
		for parent, fields := range level {
			for child, structural := range fields.Properties {
				path := parent + "." + child
				if strings.EqualFold(child, name) || strings.EqualFold(parent[strings.LastIndex(parent, ".")+1:]+child, name) {
					paths = append(paths, path)
				}
				if structural.Items != nil {
					path, structural = path+"[]", *structural.Items
				}
				next[path] = structural
			}
		}
		level = next
	}
	return paths
}

// fieldsOf are the fields of the map at a path that the schema has.
func fieldsOf(of *schema.Structural, path string) map[string]schema.Structural {
	for _, step := range pathStep.FindAllString(path, -1) {
		below, known := of.Properties[step]
		switch {
		case known:
			of = &below
		case of.Items != nil:
			of = of.Items
		case of.AdditionalProperties != nil && of.AdditionalProperties.Structural != nil:
			of = of.AdditionalProperties.Structural
		default:
			return nil
		}
	}
	return of.Properties
}
