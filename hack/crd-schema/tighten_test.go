// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// generatedPattern is controller-gen's for quantities.
const generatedPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

func TestTighten(t *testing.T) {
	const before = `
properties:
  port: {type: integer, format: int32}
  closer: {type: integer, format: int32, minimum: 1, maximum: 65535}
  format: {type: string}
  list: {items: {properties: {seconds: {type: integer, format: int64}}}}
  map: {additionalProperties: {x-kubernetes-int-or-string: true, pattern: "^.*$"}}
  intOrString: {x-kubernetes-int-or-string: true}
`
	const after = `
properties:
  port: {type: integer, format: int32, minimum: -2147483648, maximum: 2147483647}
  closer: {type: integer, format: int32, minimum: 1, maximum: 65535}
  format: {type: string}
  list: {items: {properties: {seconds: {type: integer, format: int64, minimum: -9223372036854775000, maximum: 9223372036854775000}}}}
  map: {additionalProperties: {x-kubernetes-int-or-string: true, maxLength: 64, minimum: -9223372036854775000, maximum: 9223372036854775000,
    pattern: '^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$'}}
  intOrString: {x-kubernetes-int-or-string: true, minimum: -2147483648, maximum: 2147483647}
`
	var got, want node
	for text, into := range map[string]*node{before: &got, after: &want} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	tighten(got)
	encoded, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var read node
	if err := yaml.Unmarshal(encoded, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestQuantityPattern tries every short text: the pattern admits what controller-gen's does, if the parser reads it.
func TestQuantityPattern(t *testing.T) {
	pattern, generated := regexp.MustCompile(quantityPattern), regexp.MustCompile(generatedPattern)
	each("+-.09eEKkimun ", 4, func(text string) {
		_, err := resource.ParseQuantity(text)
		if admits, should := pattern.MatchString(text), err == nil && generated.MatchString(text); admits != should {
			t.Errorf("%q: the pattern admits it is %t, the parser says %v", text, admits, err)
		}
	})
	for _, large := range []string{"1e99", "1e-99", "1.5E+12", "123456789012345678901234567890.5Ei"} {
		if _, err := resource.ParseQuantity(large); err != nil || !pattern.MatchString(large) {
			t.Errorf("%s: %v", large, err)
		}
	}
}

// TestTimePattern wants every time that Go writes.
func TestTimePattern(t *testing.T) {
	pattern := regexp.MustCompile(timePattern)
	for _, at := range []time.Time{time.Unix(0, 0).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("", -9*3600))} {
		for _, layout := range []string{time.RFC3339, time.RFC3339Nano} {
			if text := at.Format(layout); !pattern.MatchString(text) {
				t.Errorf("%s is refused", text)
			}
		}
	}
}

// each calls do with every text of at most so many letters.
func each(letters string, most int, do func(string)) {
	texts := []string{""}
	for range most {
		var longer []string
		for _, text := range texts {
			for _, letter := range letters {
				longer = append(longer, text+string(letter))
				do(text + string(letter))
			}
		}
		texts = longer
	}
	do("")
}
