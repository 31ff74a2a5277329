// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The cost of parsing a quantity grows with its exponent and its length: "1e-1000000" takes 0.2 s, and an exponent of
// nine digits takes minutes and gigabytes. A mutating webhook gets an object before the schema is checked, so any user
// could send one.
const (
	maxExponentDigits = 3
	maxDigits         = 255
)

// numeric matches strings that would be a quantity in a field of that type.
var numeric = regexp.MustCompile(`"[\s\p{Z}\x{85}0-9.+-]*([eE][+-]?([0-9]+)|[A-Za-z]{0,2})[\s\p{Z}\x{85}]*"`)

// disarm replaces costly quantities by a string that is no quantity.
func disarm(data []byte) []byte {
	return numeric.ReplaceAllFunc(data, func(text []byte) []byte {
		exponent := text[bytes.LastIndexAny(text, "eE")+1:]
		if len(text) > maxDigits || len(exponent) < len(text) && len(bytes.Trim(exponent, "+-\" \t\r\n")) > maxExponentDigits {
			return []byte(`"?"`)
		}
		return text
	})
}

// Guard returns a decoder that fails for a quantity that is too costly to parse.
func Guard(of runtime.Decoder) runtime.Decoder { return guarded{of} }

type guarded struct{ runtime.Decoder }

// Decode first decodes the object without its costly strings. If that succeeds, they are ordinary text.
func (g guarded) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if mayBeCostly(data) {
		if _, kind, err := g.Decoder.Decode(disarm(data), defaults, blank(into)); err != nil {
			return nil, kind, err
		}
	}
	return g.Decoder.Decode(data, defaults, into)
}

// mayBeCostly is a quick check that saves the regular expression for nearly every object.
func mayBeCostly(data []byte) bool {
	digits, exponent := 0, false // The length of the run of digits, and whether it follows an e.
	for i, c := range data {
		switch {
		case c >= '0' && c <= '9' || c == '.':
			digits++
			if digits > maxDigits || exponent && digits > maxExponentDigits {
				return true
			}
		case c == 'e' || c == 'E':
			digits, exponent = 0, true
		case (c == '+' || c == '-') && i > 0 && (data[i-1] == 'e' || data[i-1] == 'E'):
			digits = 0
		default:
			digits, exponent = 0, false
		}
	}
	return false
}
