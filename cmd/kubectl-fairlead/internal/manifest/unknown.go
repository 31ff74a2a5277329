// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
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

var itemIndex = regexp.MustCompile(`\[\d+\]`)

// unknownField names the fields that the user may have meant: those beside it for the same purpose or with nearly the same name, and
// those elsewhere with exactly this name.
func unknownField(d *Document, resource *crdschema.Resource, path string) *field.Error {
	if hint := cmp.Or(d.hintIfDisabled(path), d.hintOfLayout(resource.Structural, path), hintFor(resource, path)); hint != "" {
		return field.Forbidden(field.NewPath(path), "unknown field: "+hint)
	}
	if selector := selectorAbove(resource.Structural, path); selector != "" {
		return field.Forbidden(field.NewPath(path), "unknown field: a label belongs in "+selector+".matchLabels")
	}
	parent, name := parentAndName(path)
	if meant := nearest.To(name, metadataFields()); parent == "" && meant != "" { // It lacks its indentation.
		return field.Forbidden(field.NewPath(path), didYouMean("metadata."+meant))
	}
	first := min(1, len(name))
	words, listed := kubernetesWords[strings.ToLower(name[:first])+name[first:]] // Port is port.
	meant := fieldsAmong(resource.Structural, parent+".", words)
	listed = listed && !isOfOthers.MatchString(parent)
	if len(meant) == 0 {
		meant = beside(fieldsOf(resource.Structural, parent), name)
	}
	meant, set := d.withoutSet(parent, meant)
	switch {
	case len(meant) == 0 && isPeer.MatchString(parent):
		return field.Forbidden(field.NewPath(path), "unknown field: "+peers)
	case len(meant) == 1 && strings.EqualFold(strings.TrimSuffix(meant[0], "s"), strings.TrimSuffix(name, "s")): // No doubt is left.
	case listed && len(meant) == 0 && len(set) > 0: // It says what the field for this purpose says.
	case !listed && (len(meant) == 0 || parent == "spec"):
		// A field elsewhere is a guess. It helps in the spec itself, or where no field beside is like the unknown one.
		meant = append(meant, d.elsewhere(resource.Structural, parent, name)...)
	case listed && len(meant) == 0:
		meant = fieldsAmong(resource.Structural, "", words)
	}
	if len(meant) > 0 {
		return field.Forbidden(field.NewPath(path), didYouMean(meant...))
	}
	if len(set) > 0 {
		return field.Forbidden(field.NewPath(path), "unknown field: remove it: "+set[0]+" is set")
	}
	if item := d.namedByKey(resource.Structural, path); item != "" {
		return field.Forbidden(field.NewPath(path), "unknown field: the name belongs in name, as in "+item)
	}
	if parent == "spec.config" && resource.Kind == v1.ApplicationKind {
		return field.Forbidden(field.NewPath(path), "unknown field: "+fileInData(name)+"; an environment variable belongs in spec.env")
	}
	if isOfKubernetes(resource, parent, name) {
		return field.Forbidden(field.NewPath(path), "unknown field: "+notOffered)
	}
	return field.Forbidden(field.NewPath(path), unknownMessage)
}

// withoutSet parts the fields from those that the user has set already, to one value.
func (d *Document) withoutSet(parent string, meant []string) (others, set []string) {
	for _, name := range meant {
		if value := d.at(parent + "." + name); value == nil || value.Kind != yamlv3.ScalarNode || isNull(value) {
			others = append(others, name)
		} else {
			set = append(set, name)
		}
	}
	return others, set
}

func parentAndName(path string) (parent, name string) {
	if at := strings.LastIndex(path, "."); at >= 0 {
		return path[:at], path[at+1:]
	}
	return "", path
}

var (
	// isPeer matches the path of a peer of a NetworkPolicy.
	isPeer = regexp.MustCompile(`\.networkPolicy\.(egress\[\d+\]\.to|ingress\[\d+\]\.from)\[\d+\]$`)
	// isOfOthers matches the paths of what is about requests to other pods, or of the kubelet: no host name there is one of a route.
	isOfOthers = regexp.MustCompile(`\.networkPolicy\.|Probe$|Probe\.`)
)

// isOfKubernetes reports whether a Deployment, its pods or a Service have the field of an Application that does not exist.
func isOfKubernetes(resource *crdschema.Resource, parent, name string) bool {
	if resource.Kind != v1.ApplicationKind {
		return false
	}
	switch itemIndex.ReplaceAllString(parent, "[]") {
	case "spec":
		return slices.Contains(podFieldNames(), name)
	case "spec.service":
		return slices.Contains(serviceFieldNames(), name)
	}
	return false
}

// hintFor says what to do about an unknown field that resembles no field of the kind; "" if there is nothing to say.
func hintFor(resource *crdschema.Resource, path string) string {
	isClass := resource.Kind == kindClass
	if hint, known := hints[resource.Kind][itemIndex.ReplaceAllString(path, "[]")]; known {
		return hint
	}
	if file, below := strings.CutPrefix(path, "spec.config."); below && strings.Contains(file, ".") && !isClass {
		return fileInData(file)
	}
	name := strings.TrimPrefix(strings.TrimPrefix(path, "spec."), "defaults.")
	if isClass && slices.Contains(fieldsOfSpec(), name) && !hasField(fieldsOf(resource.Structural, "spec.defaults"), name) {
		return "remove it: a class has no default for " + name + ", and each Application sets its own"
	}
	return ""
}

func fileInData(name string) string { return "a file belongs in data, as in data: {" + name + ": …}" }

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

// elsewhere returns the fields with exactly this name: those in the maps beside the unknown field, such as httpGet.path, and first in
// those that the user has set, or else the one in the map above, or else those in the spec; none if there are many.
func (d *Document) elsewhere(of *schema.Structural, parent, name string) []string {
	const helpful = 3
	var paths, set []string
	for beside, fields := range fieldsOf(of, parent) {
		if parent != "spec" && beside != "status" && hasField(fields.Properties, name) {
			paths = append(paths, beside+"."+name)
			if d.at(parent+"."+beside) != nil {
				set = append(set, beside+"."+name)
			}
		}
	}
	above := strings.TrimSuffix(parentOf(parent), ".")
	if len(paths) == 0 && above != "" && above != "spec" && hasField(fieldsOf(of, above), name) {
		return []string{above + "." + name}
	}
	if len(paths) == 0 {
		paths = inSpec(of, name)
		for _, path := range paths {
			if d.at(strings.TrimSuffix(parentOf(path), ".")) != nil {
				set = append(set, path)
			}
		}
	}
	if len(set) > 0 {
		paths = set
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
	if of = schemaAt(of, path); of == nil {
		return nil
	}
	return of.Properties
}

// schemaAt is the schema of the value at a path; nil if there is none.
func schemaAt(of *schema.Structural, path string) *schema.Structural {
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
	return of
}
