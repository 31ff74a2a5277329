// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/pkg/admission"
	"fairlead.dev/fairlead/pkg/text"
)

// maxExample is how long a value may be that an example repeats.
const maxExample = 100

// oneField has maps that users write as one plain value, and the map that is meant: by the name of the field, or of the list. The first
// example counts whose field the schema has.
var oneField = map[string][]string{
	"configMap":             {"{name: %s}"},
	"configMapRef":          {"{name: %s}"},
	"envFrom":               {"{configMapRef: {name: %[1]s}} or {secretRef: {name: %[1]s}}"},
	"grpc":                  {"{port: %s}"},
	"httpGet":               {"{path: %s}"},
	"imagePullSecrets":      {"{name: %s}"},
	"initContainers":        {"{name: %s, image: …}"},
	"items":                 {"{key: %[1]s, path: %[1]s}"},
	"livenessProbe":         {"{httpGet: {path: %s}}"},
	"mounts":                {"{mountPath: %s, …}"},
	"parentRefs":            {"{name: %s}"},
	"paths":                 {"{path: %s}"},
	"persistentVolumeClaim": {"{claimName: %s}"},
	"ports":                 {"{name: NAME, containerPort: %s}"},
	"readinessProbe":        {"{httpGet: {path: %s}}"},
	"rollback":              {"{policy: %s}"},
	"routes":                {"{name: NAME, hostnames: [%s]}"},
	"secret":                {"{secretName: %s}", "{name: %s}"},
	"secretRef":             {"{name: %s}"},
	"service":               {"{type: %s}"},
	"serviceAccount":        {"{name: %s}"},
	"sidecars":              {"{name: %s, image: …}"},
	"sleep":                 {"{seconds: %s}"},
	"startupProbe":          {"{httpGet: {path: %s}}"},
	"strategy":              {"{type: %s}"},
	"tcpSocket":             {"{port: %s}"},
}

var (
	exampleField = regexp.MustCompile(`\w+`)
	variable     = regexp.MustCompile(`^([A-Za-z_][-A-Za-z0-9_.]*)\s*[=:]`)
	portOfNode   = regexp.MustCompile(`^(?:[\d.]+:)?\d+:(\d+)(?:/\w+)?$`)
)

// meantMap is the map that a user may have meant by a plain value; "" if that is not known.
func meantMap(path *field.Path, of *schema.Structural, value any, given string) string {
	if isOf[map[string]any](value) || isOf[[]any](value) || given == "" {
		return ""
	}
	name := itemIndex.ReplaceAllString(path.String()[strings.LastIndex(path.String(), ".")+1:], "")
	if switched, is := value.(bool); is {
		if switched && slices.Contains([]string{"emptyDir", "monitoring", "networkPolicy"}, name) {
			return "{}"
		}
		if !switched && name == "disruptionBudget" {
			return "{mode: Disabled}"
		}
		return ""
	}
	switch {
	case name == "env":
		// The value may be secret.
		if found := variable.FindStringSubmatch(given + "="); found != nil {
			return fmt.Sprintf("{name: %s, value: …}", found[1])
		}
		return ""
	case name == "exec" && isOf[string](value):
		if list := admission.SplitCommand(given); list != "" {
			return fmt.Sprintf("{command: %s}", list)
		}
		return ""
	case name == "ports":
		if found := portOfNode.FindStringSubmatch(given); found != nil {
			given = found[1]
		}
	}
	if len(strings.Fields(given)) != 1 || len(given) > maxExample {
		return ""
	}
	if isOf[string](value) && name != "ports" {
		given = strings.Trim(text.FlowList([]string{given}), "[]")
	}
	for _, example := range oneField[name] {
		if hasField(of.Properties, exampleField.FindString(example)) {
			return fmt.Sprintf(example, given)
		}
	}
	return ""
}

// namedByKey is the item to write for one whose only key is the name that it should have, as in {LOG: debug}; "" if it is another mistake.
func (d *Document) namedByKey(of *schema.Structural, path string) string {
	at := strings.LastIndex(path, ".")
	if at < 0 || !strings.HasSuffix(path[:at], "]") {
		return ""
	}
	parent, key := path[:at], path[at+1:]
	items := fieldsOf(of, parent)
	node := d.at(parent)
	if !hasField(items, "name") || node == nil || node.Kind != yamlv3.MappingNode {
		return ""
	}
	for i := 0; i < len(node.Content); i += 2 {
		if hasField(items, node.Content[i].Value) {
			return ""
		}
	}
	return itemNamed(schemaAt(of, parent), key)
}

// itemNamed shows an item with a name. It has the name alone of what is the user's: other values may be long, or secret.
func itemNamed(items *schema.Structural, name string) string {
	example := []string{"name: " + name}
	for _, other := range shown(items)[1:] {
		value := "…"
		if items.Properties[other].Type == "array" {
			value = "[…]"
		}
		example = append(example, other+": "+value)
	}
	return "{" + strings.Join(example, ", ") + "}"
}

// meantItem is the item that a user may have meant by the value of a list; "" if that is not known.
func meantItem(path *field.Path, items *schema.Structural, value any, given string) string {
	entries, isMap := value.(map[string]any)
	if meant := meantMap(path, items, value, given); meant != "" {
		return meant
	}
	if !slices.Contains(shown(items), "name") {
		return ""
	}
	name := "NAME"
	if isMap && len(entries) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(entries)), isWordOf(items)) {
		name = slices.Min(slices.Collect(maps.Keys(entries)))
	}
	return itemNamed(items, name)
}

// inBrackets has each of the items as a list.
func inBrackets(items string) []string {
	var lists []string
	for item := range strings.SplitSeq(items, " or ") {
		lists = append(lists, "["+item+"]")
	}
	return lists
}
