// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/crdschema"
)

// missingPeers is the path of the peers of a rule.
var missingPeers = regexp.MustCompile(`networkPolicy\.(ingress\[\d+\]\.from|egress\[\d+\]\.to)$`)

// checkSchema returns the errors of the schema, without those that follow from another one. It says what to write instead of no peers, which are all peers for Kubernetes.
func checkSchema(resource *crdschema.Resource, object map[string]any) field.ErrorList {
	errs := resource.CheckSchema(object)
	for _, err := range errs {
		if err.Type == field.ErrorTypeRequired && missingPeers.MatchString(err.Field) {
			err.Detail = validation.NeedsPeers
		}
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return lacksKey(resource, err) })
}

// lacksKey reports whether items of a list are duplicates only because they lack a key of the list: another error says that.
func lacksKey(resource *crdschema.Resource, err *field.Error) bool {
	keys, isItem := err.BadValue.(map[string]any)
	path := strings.Trim(strings.TrimPrefix(err.Field, "<nil>"), ".")
	at := strings.LastIndex(path, "[")
	if err.Type != field.ErrorTypeDuplicate || !isItem || at < 0 {
		return false
	}
	list := schemaAt(resource.Structural, path[:at])
	if list == nil || list.Items == nil || list.Items.ValueValidation == nil {
		return false
	}
	return slices.ContainsFunc(list.XListMapKeys, func(key string) bool {
		_, has := keys[key]
		return !has && slices.Contains(list.Items.ValueValidation.Required, key)
	})
}

// withEmpty adds to an error about a map that has none of some fields the one that the file has without a value. The API server leaves it out
// before it checks the rules.
func (d *Document) withEmpty(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		given := d.at(err.Field)
		if given == nil || !strings.HasSuffix(err.Detail, "and none is") {
			continue
		}
		words := strings.FieldsFunc(err.Detail, func(letter rune) bool { return !unicode.IsLetter(letter) })
		for i := 0; i+1 < len(given.Content); i += 2 {
			name, write := given.Content[i].Value, "its fields"
			if !slices.Contains(words, name) || original(given.Content[i+1]).ShortTag() != "!!null" {
				continue
			}
			if name == "emptyDir" {
				write = "emptyDir: {}"
			}
			err.Detail += ": " + name + " has no value, so write " + write
			break
		}
	}
	return errs
}

// quoteQuantities quotes quantities as the file has them. Kubernetes rewrites 0.3Gi to 322122547200m.
func (d *Document) quoteQuantities(errs field.ErrorList) {
	for _, err := range errs {
		stored, isText := err.BadValue.(string)
		given := d.given(err.Field)
		if !isText || given == "" || !strings.Contains(err.Field, ".resources.") {
			continue
		}
		written, err1 := apiresource.ParseQuantity(given)
		rewritten, err2 := apiresource.ParseQuantity(stored)
		if err1 == nil && err2 == nil && written.Cmp(rewritten) == 0 {
			err.BadValue = given
		}
	}
}
