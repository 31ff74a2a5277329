// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/pkg/admission"
	"fairlead.dev/fairlead/pkg/text"
)

// maxFields is how many fields of a map a message names.
const maxFields = 6

// kinds finds values of a wrong kind, such as a map where the schema has a list. The API server has several messages for
// one such value, or calls what is in it unknown; this says once what to write.
type kinds struct {
	document *Document
	errs     field.ErrorList
}

// wrongKinds returns an error for each value of a wrong kind, and none for what is in it.
func wrongKinds(d *Document, of *schema.Structural) field.ErrorList {
	k := &kinds{document: d}
	for _, key := range slices.Sorted(maps.Keys(d.object)) {
		below, known := of.Properties[key]
		if key == "metadata" {
			below = metadataSchema
		}
		if known {
			k.visit(field.NewPath(key), &below, d.object[key])
		}
	}
	return k.errs
}

// metadataSchema is what a user writes of the metadata. The CRDs say nothing about them.
var metadataSchema = schema.Structural{
	Generic: schema.Generic{Type: "object"},
	Properties: map[string]schema.Structural{
		"name": stringSchema, "generateName": stringSchema, "namespace": stringSchema, "labels": stringsSchema, "annotations": stringsSchema,
		"finalizers": {Generic: schema.Generic{Type: "array"}, Items: &stringSchema},
	},
}

var (
	stringSchema  = schema.Structural{Generic: schema.Generic{Type: "string"}}
	stringsSchema = schema.Structural{
		Generic:              schema.Generic{Type: "object"},
		AdditionalProperties: &schema.StructuralOrBool{Structural: &stringSchema},
	}
)

func (k *kinds) visit(path *field.Path, of *schema.Structural, value any) {
	if value == nil {
		return // Like a field that is not there.
	}
	if want := k.want(path, of, value); want != "" {
		k.errs = append(k.errs, field.TypeInvalid(path, field.OmitValueType{}, want))
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if below, known := of.Properties[key]; known {
				k.visit(path.Child(key), &below, value[key])
			} else if of.AdditionalProperties != nil && of.AdditionalProperties.Structural != nil {
				k.visit(path.Key(key), of.AdditionalProperties.Structural, value[key])
			}
		}
	case []any:
		for i, item := range value {
			k.visit(path.Index(i), of.Items, item)
		}
	}
}

// want says what to write instead of the value. It is empty if the value is of the kind of the schema.
func (k *kinds) want(path *field.Path, of *schema.Structural, value any) string {
	isMap, isList, isText := isOf[map[string]any](value), isOf[[]any](value), isOf[string](value)
	given := k.document.given(path.String())
	if of.Type == "integer" {
		if want := numberWithUnit(path, given); want != "" {
			return want
		}
	}
	switch {
	case of.XIntOrString:
		if isText || isWhole(value) {
			return ""
		}
		return wantNumberOrString(path, of, value, given)
	case of.Type == "array" && !isList:
		return k.wantList(path, of.Items, value, given)
	case of.Type == "object" && !isMap:
		return wantMap(path, of, value, given)
	case of.Type == "string" && !isText:
		want := wantString(path, of, value, given)
		if strings.HasSuffix(want, onePort) && len(k.document.portNames()) > 0 {
			want += ", as in " + k.document.portName()
		}
		return want
	case (of.Type == "integer" || of.Type == "number") && !isWhole(value):
		return unquoted("must be a whole number", value, func() bool { _, err := strconv.ParseInt(given, 10, 64); return err == nil })
	case of.Type == "integer" && exceedsInt32(of, value):
		return fmt.Sprintf("must be a whole number from %s, not %s", limitsOf(of), given)
	case of.Type == "boolean" && !isOf[bool](value):
		return unquoted("must be true or false", value, func() bool { _, err := strconv.ParseBool(given); return err == nil })
	}
	return ""
}

// wantList shows a list that has what the user may have meant.
func (k *kinds) wantList(path *field.Path, items *schema.Structural, value any, given string) string {
	if items.Type != "object" {
		if named := strings.HasSuffix(path.String(), ".ports"); named && !isOf[string](value) {
			return fmt.Sprintf("must be a list of %ss, not %s: names of the ports, as in [%s]", items.Type, nameKind(value), k.document.portName())
		}
		if isOf[map[string]any](value) {
			return fmt.Sprintf("must be a list of %ss, not a map: [a, b]", items.Type)
		}
		return fmt.Sprintf("must be a list of %ss, not %s: %s", items.Type, nameKind(value), k.listOf(path, items, value, given))
	}
	fields, of := shown(items), "maps"
	if len(fields) > 0 {
		of = "{" + strings.Join(fields, ", ") + "}"
	}
	want := fmt.Sprintf("must be a list of %s, not %s", of, nameKind(value))
	entries, _ := value.(map[string]any)
	for key := range entries {
		if _, known := items.Properties[key]; known {
			return want + ": begin its first field with \"- \""
		}
	}
	if meant := meantItem(path, items, value, given); meant != "" {
		return want + ": " + strings.Join(inBrackets(meant), " or ")
	}
	return want
}

// listOf has the items that a user may have meant with one plain value.
func (k *kinds) listOf(path *field.Path, items *schema.Structural, value any, given string) string {
	written, isText := value.(string)
	switch name := path.String()[strings.LastIndex(path.String(), ".")+1:]; {
	case items.Type != "string":
		return "[" + given + "]"
	case !isText:
		return text.FlowList([]string{given})
	case name == "command":
		return cmp.Or(admission.SplitCommand(written), admission.CloseQuote)
	case name == "args":
		// A quote that is open may be an apostrophe.
		return cmp.Or(admission.SplitArguments(k.document.commandEnd(path), written), text.FlowList([]string{written}))
	}
	return text.FlowList(strings.FieldsFunc(written, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }))
}

// onePort says what a string that names a port is.
const onePort = ": the name of one of the ports"

// portNames are the names of the ports that the file has.
func (d *Document) portNames() (names []string) {
	ports := d.at("spec.ports")
	if ports == nil || ports.Kind != yamlv3.SequenceNode {
		return nil
	}
	for _, port := range ports.Content {
		if name := child(port, "name"); name != nil && original(name).Value != "" {
			names = append(names, original(name).Value)
		}
	}
	return names
}

// portName is the name of the first port, or a placeholder.
func (d *Document) portName() string { return append(d.portNames(), "NAME")[0] }

// commandEnd is the last word of the command that the arguments belong to; "" if there is none.
func (d *Document) commandEnd(args *field.Path) string {
	command := d.at(strings.TrimSuffix(args.String(), "args") + "command")
	if command == nil {
		return ""
	}
	words, _ := text.ShellWords(command.Value)
	for _, item := range command.Content {
		words = append(words, original(item).Value)
	}
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// isWordOf reports whether a key is no name that the user chose, but the word of Kubernetes for a field of the item.
func isWordOf(items *schema.Structural) func(key string) bool {
	return func(key string) bool {
		return slices.ContainsFunc(kubernetesWords[key], func(word string) bool { return hasField(items.Properties, word) })
	}
}

// shown are the fields of an item that an example needs: its name first, then those that are required, and a plain value.
func shown(items *schema.Structural) []string {
	var fields []string
	if items.ValueValidation != nil {
		fields = slices.Sorted(slices.Values(items.ValueValidation.Required))
	}
	if _, named := items.Properties["name"]; !named {
		return fields
	}
	fields = append([]string{"name"}, slices.DeleteFunc(fields, func(field string) bool { return field == "name" })...)
	if _, valued := items.Properties["value"]; valued && !slices.Contains(fields, "value") {
		fields = append(fields, "value")
	}
	return fields
}

func wantMap(path *field.Path, of *schema.Structural, value any, given string) string {
	if of.AdditionalProperties != nil {
		return fmt.Sprintf("must be a map, not %s: {KEY: VALUE}", nameKind(value))
	}
	fields := shown(of)
	for _, other := range slices.Sorted(maps.Keys(of.Properties)) {
		if !slices.Contains(fields, other) {
			fields = append(fields, other)
		}
	}
	if len(fields) > maxFields {
		fields = append(fields[:maxFields], "…")
	}
	noun := "fields"
	if len(fields) == 1 {
		noun = "field"
	}
	want := fmt.Sprintf("must be a map with the %s %s, not %s", noun, strings.Join(fields, ", "), nameKind(value))
	if meant := meantMap(path, of, value, given); meant != "" {
		want += ": " + meant
	}
	return want
}

// wantNumberOrString is for ports, percentages and quantities. Of these, only quantities have fractions,
// and a CEL rule.
func wantNumberOrString(path *field.Path, of *schema.Structural, value any, given string) string {
	const want = "must be a whole number or a string, not "
	for _, nested := range []string{"requests", "limits"} {
		if strings.HasSuffix(path.String(), "["+nested+"]") && isOf[map[string]any](value) {
			return want + "a map: move " + nested + " to the left, below resources"
		}
	}
	if isQuantity := len(of.XValidations) > 0; !isQuantity || !isOf[float64](value) {
		return want + nameKind(value)
	}
	// The key of a resource is in brackets. In quotes, only some resources may have a fraction.
	switch name := path.String()[strings.LastIndex(path.String(), "[")+1:]; {
	case strings.Contains(name, "/"):
		return "must be a whole number, not " + given
	case strings.HasSuffix(name, "memory]") || strings.HasSuffix(name, "ephemeral-storage]") || strings.HasPrefix(name, "hugepages-"):
		return fmt.Sprintf("must be a whole number of bytes, not %s: write a unit behind it, as in %sGi", given, beforeUnit(value, given))
	}
	return fmt.Sprintf("%s%s: put it in quotes, %q", want, given, given)
}

// beforeUnit is a number as the file has it, or else without the exponent, since a unit cannot follow one.
func beforeUnit(value any, given string) string {
	if strings.ContainsAny(given, "eE") {
		return nameKind(value)
	}
	return given
}

// wantString says to put quotes around what YAML takes for something else than a string: 8080, 0.5, true.
func wantString(path *field.Path, of *schema.Structural, value any, given string) string {
	if of.ValueValidation != nil && len(of.ValueValidation.Enum) > 0 {
		var values []string
		for _, one := range of.ValueValidation.Enum {
			values = append(values, fmt.Sprint(one.Object))
		}
		return fmt.Sprintf("must be one of %s, not %s", strings.Join(values, ", "), nameKind(value))
	}
	want := "must be a string, not " + nameKind(value)
	last, _, _ := strings.Cut(path.String()[strings.LastIndex(path.String(), ".")+1:], "[")
	if isOf[map[string]any](value) || isOf[[]any](value) {
		switch {
		case isOf[map[string]any](value) && strings.HasSuffix(path.String(), ".image"):
			want += ": write the registry, the repository and the tag as one, as in registry.example.com/web:1.2"
		case strings.HasPrefix(path.String(), "spec.config.data["):
			want += ": write | after the key, and the content of the file below it"
		case last == "port" || last == "ports":
			want += onePort
		}
		return want
	}
	switch last {
	case "port", "ports":
		return want + onePort
	case "interval":
		return want + ": a duration such as 30s"
	}
	return fmt.Sprintf("%s: put it in quotes, %q", want, given)
}

// numberWithUnit says which number a duration or percentage would be. It is empty for anything else.
func numberWithUnit(path *field.Path, given string) string {
	name := strings.ToLower(path.String()[strings.LastIndex(path.String(), ".")+1:])
	if _, err := strconv.ParseInt(given, 10, 64); err == nil {
		return ""
	}
	duration, err := time.ParseDuration(given)
	switch isDuration := err == nil; {
	case strings.HasSuffix(name, "seconds") && isDuration && duration%time.Second == 0:
		return fmt.Sprintf("must be a whole number, not %q: write %d, a number of seconds", given, duration/time.Second)
	case strings.HasSuffix(name, "seconds") && isDuration:
		return fmt.Sprintf("must be a whole number of seconds, not %q", given)
	}
	percent, isPercent := strings.CutSuffix(given, "%")
	if _, err := strconv.ParseInt(percent, 10, 64); isPercent && err == nil && strings.HasSuffix(name, "percentage") {
		return fmt.Sprintf("must be a whole number, not %q: write %s", given, percent)
	}
	return ""
}

func unquoted(want string, value any, meant func() bool) string {
	want += ", not " + nameKind(value)
	if isOf[string](value) && meant() {
		want += ": leave out the quotes"
	}
	return want
}

// exceedsInt32 reports whether a number is too large or too small for a field of 32 bits. The schema has limits too, and more than one message
// for such a number.
func exceedsInt32(of *schema.Structural, value any) bool {
	if of.ValueValidation == nil || of.ValueValidation.Format != "int32" {
		return false
	}
	number, isFloat := value.(float64)
	if !isFloat {
		whole, _ := value.(int64)
		number = float64(whole)
	}
	return number < math.MinInt32 || number > math.MaxInt32
}

func limitsOf(of *schema.Structural) string {
	least, most := float64(math.MinInt32), float64(math.MaxInt32)
	if limit := of.ValueValidation.Minimum; limit != nil {
		least = *limit
	}
	if limit := of.ValueValidation.Maximum; limit != nil {
		most = *limit
	}
	return fmt.Sprintf("%.0f to %.0f", least, most)
}

func nameKind(value any) string {
	switch value := value.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "true or false"
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return "a number"
}

func isOf[T any](value any) bool {
	_, is := value.(T)
	return is
}

// isWhole is true of 1.0 too, as for the API server.
func isWhole(value any) bool {
	number, isFloat := value.(float64)
	return isOf[int64](value) || isFloat && number == math.Trunc(number)
}
