// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/pkg/admission"
	"fairlead.dev/fairlead/pkg/crdschema"
	"fairlead.dev/fairlead/pkg/text"
)

// maxExample is how long a value may be that an example repeats.
const maxExample = 100

// Patterns of values: a label and a name of Kubernetes, a path, and a port up to 64999, which is simpler to write than one up to 65535.
// In a Compose file, a port of the host may stand before the one of the container.
const (
	aLabel = `[a-z0-9](?:[-a-z0-9]*[a-z0-9])?`
	aName  = `(` + aLabel + `(?:\.` + aLabel + `)*)`
	aPath  = `(/|(?:/[-\w.~%?=&]+)+/?)`
	aPort  = `([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3})`

	anApplication = `([a-z](?:[-a-z0-9]*[a-z0-9])?)`
	aByte         = `(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`
	anAddress     = `(` + aByte + `(?:\.` + aByte + `){3})`
	aBlock        = `(` + aByte + `(?:\.` + aByte + `){3}/(?:3[0-2]|[12]?\d)|[0-9a-f]*:[0-9a-f:]*/(?:12[0-8]|1[01]\d|[1-9]?\d))`

	aHostPort = `(?:(?:[\d.]+:)?\d+:)?`
)

// shortForm is a map that users write as one plain value.
type shortForm struct {
	// pattern is what the value is like, and example is the map that it means.
	pattern, example string
	// placeholder stands in the example for any other value. Without one, there is no example then.
	placeholder string
}

func byName(example string) shortForm { return shortForm{aName, example, "NAME"} }

// ofContainer are the forms of a container: its name, or its image.
var ofContainer = []shortForm{
	{`(` + aLabel + `)`, "{name: $1, image: …}", "NAME"},
	{`(\w[-\w.]*(?:[/:@]\w[-\w.]*)+)`, "{name: NAME, image: $1}", ""},
}

// ofPeer are the forms of a peer of a networkPolicy: the name of an Application, with its namespace or without, and addresses.
var ofPeer = []shortForm{
	{anApplication, "{application: {name: $1}}", "NAME"},
	{`(` + aLabel + `)/` + anApplication, "{application: {namespace: $1, name: $2}}", ""},
	{aBlock, "{ipBlock: {cidr: $1}}", ""},
	{anAddress, "{ipBlock: {cidr: $1/32}}", ""},
}

// oneField has the forms by the name of the field, or of the list. Those count whose first field the schema has.
var oneField = map[string][]shortForm{
	"application":           {{anApplication, "{name: $1}", "NAME"}, {`(` + aLabel + `)/` + anApplication, "{namespace: $1, name: $2}", ""}},
	"configMap":             {byName("{name: $1}")},
	"configMapRef":          {byName("{name: $1}")},
	"disruptionBudget":      {{`(Auto|Disabled)`, "{mode: $1}", ""}},
	"egress":                {{anApplication, "{to: [{application: {name: $1}}]}", "NAME"}},
	"envFrom":               {byName("{configMapRef: {name: $1}} or {secretRef: {name: $1}}")},
	"fieldRef":              {{`([a-zA-Z]+(?:\.[a-zA-Z]+)+)`, "{fieldPath: $1}", "metadata.name"}},
	"from":                  ofPeer,
	"grpc":                  {{aPort, "{port: $1}", "8080"}},
	"httpGet":               {{aPath, "{path: $1}", "/PATH"}},
	"imagePullSecrets":      {byName("{name: $1}")},
	"ingress":               {{anApplication, "{from: [{application: {name: $1}}]}", "NAME"}},
	"initContainers":        ofContainer,
	"ipBlock":               {{aBlock, "{cidr: $1}", "10.0.0.0/8"}, {anAddress, "{cidr: $1/32}", ""}},
	"items":                 {{`([-\w.]+)`, "{key: $1, path: $1}", "KEY"}},
	"livenessProbe":         {{aPath, "{httpGet: {path: $1}}", ""}},
	"mounts":                {{`(?:[^:]+:)?` + aPath + `(?::r[ow])?`, "{mountPath: $1, …}", "/PATH"}},
	"parentRefs":            {byName("{name: $1}"), {`(` + aLabel + `)/` + aName, "{namespace: $1, name: $2}", ""}},
	"paths":                 {{aPath, "{path: $1}", "/PATH"}},
	"persistentVolumeClaim": {byName("{claimName: $1}")},
	"ports": {
		{aHostPort + aPort + `(?:/tcp)?`, "{name: NAME, containerPort: $1}", "8080"},
		{aHostPort + aPort + `/udp`, "{name: NAME, containerPort: $1, protocol: UDP}", ""},
		// Of the egress of a networkPolicy.
		{aPort + `(?:/tcp)?`, "{port: $1}", "5432"},
		{aPort + `/udp`, "{port: $1, protocol: UDP}", ""},
		{aPort + `-` + aPort, "{port: $1, endPort: $2}", ""},
		{`([a-z][-a-z0-9]*)`, "{port: $1}", ""},
	},
	"readinessProbe": {{aPath, "{httpGet: {path: $1}}", ""}},
	"rollback":       {{`(Never|OnFailure)`, "{policy: $1}", "OnFailure"}},
	"routes":         {{`((?:\*\.)?(?:` + aLabel + `\.)+[a-z]+)`, "{name: NAME, hostnames: [$1]}", "web.example.com"}},
	"secret":         {byName("{secretName: $1}"), byName("{name: $1}")},
	"secretRef":      {byName("{name: $1}")},
	"service":        {{`(ClusterIP|NodePort|LoadBalancer)`, "{type: $1}", "ClusterIP"}},
	"serviceAccount": {byName("{name: $1}")},
	"sidecars":       ofContainer,
	"sleep":          {{`(\d+)s?`, "{seconds: $1}", "5"}},
	"startupProbe":   {{aPath, "{httpGet: {path: $1}}", ""}},
	"strategy":       {{`(RollingUpdate|Recreate)`, "{type: $1}", "RollingUpdate"}},
	"tcpSocket":      {{aPort + `|([a-z][-a-z0-9]*)`, "{port: $1$2}", "8080"}},
	"tls":            {byName("{secretName: $1}")},
	"to":             ofPeer,
}

var (
	exampleField = regexp.MustCompile(`\w+`)
	exampleValue = regexp.MustCompile(`(?:\$\d)+`)
	variable     = regexp.MustCompile(`^([A-Za-z_][-A-Za-z0-9_.]*)\s*[=:]`)
)

// meantMap is the map that a user may have meant by a plain value, or by some lists; "" if that is not known.
func meantMap(path *field.Path, of *schema.Structural, value any, given string) string {
	name := itemIndex.ReplaceAllString(path.String()[strings.LastIndex(path.String(), ".")+1:], "")
	if list, isList := value.([]any); isList {
		return meantByList(name, of, list)
	}
	if isOf[map[string]any](value) || given == "" {
		return ""
	}
	switched, isBool := value.(bool)
	switch {
	case isBool && switched && slices.Contains([]string{"emptyDir", "monitoring", "networkPolicy"}, name):
		return "{}"
	case isBool && switched && name == "tls" && hasField(of.Properties, "secretName"):
		return "{secretName: NAME}"
	case isBool && !switched && name == "disruptionBudget":
		return "{mode: Disabled}"
	case isBool && name == "rollback" && switched:
		return "{policy: OnFailure}"
	case isBool:
		return ""
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
	}
	forms := slices.DeleteFunc(slices.Clone(oneField[name]), func(form shortForm) bool {
		return !hasField(of.Properties, exampleField.FindString(form.example))
	})
	for _, form := range forms {
		if example := form.with(of, given); example != "" {
			return example
		}
	}
	for _, form := range forms {
		if form.placeholder != "" {
			return exampleValue.ReplaceAllLiteralString(form.example, form.placeholder)
		}
	}
	return ""
}

// meantByList is the map that a user may have meant by a list: a command alone, or the TLS of an Ingress.
func meantByList(name string, of *schema.Structural, list []any) string {
	switch {
	case name == "exec":
		words := make([]string, 0, len(list))
		for _, item := range list {
			word, isText := item.(string)
			if !isText {
				return ""
			}
			words = append(words, word)
		}
		if command := text.FlowList(words); len(words) > 0 && len(command) <= maxExample {
			return fmt.Sprintf("{command: %s}", command)
		}
		return "{command: […]}"
	case name == "tls" && len(list) == 1 && hasField(of.Properties, "secretName"):
		item, _ := list[0].(map[string]any)
		secret, _ := item["secretName"].(string)
		return cmp.Or(byName("{secretName: $1}").with(of, secret), "{secretName: NAME}")
	}
	return ""
}

// with is the example with the value, in quotes if it needs them; "" if the value is not like this form, or the schema refuses it.
func (f shortForm) with(of *schema.Structural, given string) string {
	pattern := regexp.MustCompile(`^(?:` + f.pattern + `)$`)
	at := pattern.FindStringSubmatchIndex(given)
	if at == nil || len(given) > maxExample {
		return ""
	}
	for _, template := range []string{f.example, exampleValue.ReplaceAllString(f.example, `"$0"`)} {
		example := string(pattern.ExpandString(nil, template, given, at))
		if !slices.ContainsFunc(strings.Split(example, " or "), func(one string) bool { return !fits(of, one) }) {
			return example
		}
	}
	return ""
}

// fits reports whether the schema accepts an example.
func fits(of *schema.Structural, example string) bool {
	object, err := crdschema.Decode([]byte(example))
	return err == nil && apiservervalidation.NewSchemaValidatorFromOpenAPI(of.ToKubeOpenAPI()).Validate(object).IsValid()
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
	const fieldAndValue = 2
	if !hasField(items, "name") || node == nil || node.Kind != yamlv3.MappingNode || len(node.Content) != fieldAndValue {
		return ""
	}
	// A word such as number is likelier than a name here, or in the items that have a name alone.
	list := itemIndex.ReplaceAllString(parent, "")
	if len(items) == 1 || strings.HasSuffix(list, ".ports") || strings.HasSuffix(list, ".parentRefs") {
		return ""
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
		// One that is written as {name: web} is meant like web alone.
		named, _ := entries["name"].(string)
		return meantMap(path, items, named, named)
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
