// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/nearest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/crdschema"
)

const unknownMessage = "unknown field: remove it, or correct its name"

func didYouMean(names ...string) string {
	last := len(names) - 1
	meant := names[last]
	if last > 0 {
		meant = strings.Join(names[:last], ", ") + " or " + meant
	}
	return "unknown field: did you mean " + meant + "?"
}

// kubernetesWords are fields of Kubernetes' own kinds and of charts, and the fields that an Application has for the same purpose: by their
// paths from the map that the unknown field is in, or from the top.
var kubernetesWords = map[string][]string{
	"annotations":              {"podMetadata.annotations", "service.annotations"},
	"averageUtilization":       {"targetCPUUtilizationPercentage", "targetMemoryUtilizationPercentage"},
	"backend":                  {"port", "paths[].port"},
	"class":                    {"className", "ingressClassName"},
	"configMaps":               {"envFrom", "mounts"},
	"containerSecurityContext": {"securityContext"},
	"cpu":                      {"requests", "limits", "targetCPUUtilizationPercentage"},
	"domain":                   {"hostnames", "spec.routes[].hostnames"},
	"environment":              {"env"},
	"gateway":                  {"parentRefs", "spec.routes[].parentRefs"},
	"horizontalPodAutoscaler":  {"autoscaling"},
	"host":                     {"hostnames", "spec.routes[].hostnames"},
	"hostname":                 {"hostnames", "spec.routes[].hostnames"},
	"hosts":                    {"hostnames", "spec.routes[].hostnames"},
	"hpa":                      {"autoscaling"},
	"http":                     {"paths"},
	"ingress":                  {"routes"},
	"ingressClass":             {"ingressClassName", "spec.routes[].ingressClassName"},
	"labels":                   {"podMetadata.labels"},
	"memory":                   {"requests", "limits", "targetMemoryUtilizationPercentage"},
	"name":                     {"secretName", "claimName"},
	"path":                     {"mountPath", "paths", "httpGet.path"},
	"pdb":                      {"disruptionBudget"},
	"podAnnotations":           {"podMetadata.annotations"},
	"podDisruptionBudget":      {"disruptionBudget"},
	"podLabels":                {"podMetadata.labels"},
	"port":                     {"containerPort", "servicePort", "paths[].port", "httpGet.port", "tcpSocket.port", "grpc.port"},
	"pvc":                      {"persistentVolumeClaim"},
	"rules":                    {"paths"},
	"secrets":                  {"envFrom", "mounts"},
	"serviceMonitor":           {"monitoring"},
	"targetAverageUtilization": {"targetCPUUtilizationPercentage", "targetMemoryUtilizationPercentage"},
	"targetPort":               {"containerPort", "spec.ports[].containerPort"},
	"updateStrategy":           {"strategy"},
	"volumeMounts":             {"mounts"},
	"volumes":                  {"mounts"},
}

// withoutField says what to do about fields of Kubernetes' own kinds for which an Application has no field, or has it elsewhere.
var withoutField = map[string]string{
	"spec.containers":              "write the fields of the main container, such as image, in the spec itself, and other containers in sidecars",
	"spec.envFrom[].configMapName": "did you mean configMapRef.name?",
	"spec.envFrom[].name":          "did you mean configMapRef.name or secretRef.name?",
	"spec.envFrom[].secretName":    "did you mean secretRef.name?",
	"spec.mounts[].hostPath":       "no pod of an Application mounts a path of its node: use emptyDir, or a persistentVolumeClaim",
	"spec.mounts[].name":           "remove it: a mount has its source beside mountPath, such as secret, configMap or emptyDir",
	"spec.ports[].nodePort":        "remove it: Kubernetes chooses the node port",
	"spec.restartPolicy":           "remove it: the containers of an Application always restart",
	"spec.selector":                "remove it: Fairlead sets the selectors of the Deployment and the Service",
	"spec.service.port":            "did you mean spec.ports[].servicePort?",
	"spec.service.ports":           "did you mean spec.ports?",
	"spec.service.selector":        "remove it: Fairlead sets the selector of the Service",
	"spec.template":                "write what the pods have, such as image, ports and env, in the spec itself, and their labels in podMetadata",
}

var itemIndex = regexp.MustCompile(`\[\d+\]`)

// unknownField names the fields that the user may have meant: those beside it for the same purpose or with nearly the same name, and
// those elsewhere with exactly this name.
func unknownField(resource *crdschema.Resource, path string) *field.Error {
	if instead, known := withoutField[itemIndex.ReplaceAllString(path, "[]")]; known && resource.Kind == v1.ApplicationKind {
		return field.Forbidden(field.NewPath(path), "unknown field: "+instead)
	}
	if selector := selectorAbove(resource.Structural, path); selector != "" {
		return field.Forbidden(field.NewPath(path), "unknown field: a label belongs in "+selector+".matchLabels")
	}
	parent, name := "", path
	if at := strings.LastIndex(path, "."); at >= 0 {
		parent, name = path[:at], path[at+1:]
	}
	first := min(1, len(name))
	words, listed := kubernetesWords[strings.ToLower(name[:first])+name[first:]] // Port is port.
	meant := fieldsAmong(resource.Structural, parent+".", words)
	if len(meant) == 0 {
		meant = beside(fieldsOf(resource.Structural, parent), name)
	}
	switch {
	case len(meant) == 1 && strings.EqualFold(meant[0], name): // No doubt is left.
	case !listed:
		meant = append(meant, elsewhere(resource.Structural, parent, name)...)
	case len(meant) == 0:
		meant = fieldsAmong(resource.Structural, "", words)
	}
	if len(meant) == 0 {
		return field.Forbidden(field.NewPath(path), unknownMessage)
	}
	return field.Forbidden(field.NewPath(path), didYouMean(meant...))
}

// selectorAbove is the path of the label selector that the unknown field is in; "" if there is none, or the field is a misspelt one of it or
// in one of its fields.
func selectorAbove(of *schema.Structural, path string) string {
	for at, letter := range path {
		if letter != '.' {
			continue
		}
		fields, rest := fieldsOf(of, path[:at]), path[at+1:]
		if !hasField(fields, "matchLabels") {
			continue
		}
		if hasField(fields, pathStep.FindString(rest)) || len(beside(fields, rest)) > 0 {
			return ""
		}
		return path[:at]
	}
	return ""
}

// fieldsAmong are the words that are paths of the schema behind the prefix.
func fieldsAmong(of *schema.Structural, prefix string, words []string) (paths []string) {
	for _, word := range words {
		path := prefix + word
		if at := strings.LastIndex(path, "."); at > 0 && hasField(fieldsOf(of, path[:at]), path[at+1:]) {
			paths = append(paths, word)
		}
	}
	return paths
}

// beside is the field with nearly this name, or else the only one that begins or ends so: headers is httpHeaders.
func beside(fields map[string]schema.Structural, name string) []string {
	const letters = 3 // Two begin or end too many names.
	names := slices.Sorted(maps.Keys(fields))
	if near := nearest.To(name, names); near != "" {
		return []string{near}
	}
	lower := strings.ToLower(name)
	longer := slices.DeleteFunc(names, func(field string) bool {
		field = strings.ToLower(field)
		return !strings.HasPrefix(field, lower) && !strings.HasSuffix(field, lower)
	})
	if len(longer) != 1 || len(name) < letters {
		return nil
	}
	return longer
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
// serviceType is spec.service.type. None is more than four fields deep, or of another container than the main one.
func inSpec(of *schema.Structural, name string) (paths []string) {
	level := map[string]schema.Structural{"spec": of.Properties["spec"]}
	for range 4 {
		next := map[string]schema.Structural{}
		for parent, fields := range level {
			for child, structural := range fields.Properties {
				if child == "initContainers" || child == "sidecars" {
					continue
				}
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
