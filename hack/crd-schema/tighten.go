// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "math"

// node is one schema of a CustomResourceDefinition, as it stands in the file.
type node = map[string]any

// A number must fit its Go type. The format names that type, but the API server does not look at it.
const (
	minInt32 = float64(math.MinInt32)
	maxInt32 = float64(math.MaxInt32)
)

// Bounds are float64, which cannot express the largest int64. This is the largest below it.
var maxInt64 = math.Nextafter(math.MaxInt64, 0)

// quantityPattern admits what resource.ParseQuantity reads; controller-gen's also admits "1e1.5". Two digits of an exponent and
// maxQuantityLength are more than any quantity needs. They bound the cost of parsing: that of "1e-1000000" takes 0.2 s. The
// length bounds the cost of the rule that explain makes of the pattern, too.
const (
	quantityPattern   = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$`
	maxQuantityLength = 64
)

// timePattern admits what time.RFC3339 reads. The format date-time alone admits more, such as a leap second.
const timePattern = `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`

// tighten makes a schema, and all below it, refuse what Go cannot decode.
func tighten(schema node) {
	switch {
	case schema["x-kubernetes-int-or-string"] == true && schema["pattern"] != nil: // Only a quantity has one.
		schema["pattern"], schema["maxLength"] = quantityPattern, maxQuantityLength
		bound(schema, -maxInt64, maxInt64)
	case schema["x-kubernetes-int-or-string"] == true, schema["format"] == "int32":
		bound(schema, minInt32, maxInt32)
	case schema["format"] == "int64":
		bound(schema, -maxInt64, maxInt64)
	case schema["format"] == "date-time":
		schema["pattern"] = timePattern
		schema["minItems"], schema["maxItems"] = 1, 0 // The API server takes any list for a string that has a format.
	}
	for _, below := range []any{schema["items"], schema["additionalProperties"]} {
		if below, ok := below.(node); ok {
			tighten(below)
		}
	}
	properties, _ := schema["properties"].(node)
	for _, property := range properties {
		if property, ok := property.(node); ok {
			tighten(property)
		}
	}
}

// bound adds the bounds of a Go type, where the API has no closer ones.
func bound(schema node, least, most float64) {
	if _, has := schema["minimum"]; !has {
		schema["minimum"] = least
	}
	if _, has := schema["maximum"]; !has {
		schema["maximum"] = most
	}
}
