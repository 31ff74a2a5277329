// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The cost of parsing a quantity grows with its exponent and its length: that of "1e-1000000" takes 0.2 s, and nine digits
// take minutes and gigabytes. A mutating webhook sees an object before the schema does, so anyone could send one.
const (
	maxExponentDigits = 3
	maxDigits         = 255
)

// numeric are strings that would be a quantity, in a field of that type.
var numeric = regexp.MustCompile(`"[\s\p{Z}\x{85}0-9.+-]*([eE][+-]?([0-9]+)|[A-Za-z]{0,2})[\s\p{Z}\x{85}]*"`)

// disarm puts a string that is no quantity in the place of the costly ones.
func disarm(data []byte) []byte {
	return numeric.ReplaceAllFunc(data, func(text []byte) []byte {
		exponent := text[bytes.LastIndexAny(text, "eE")+1:]
		if len(text) > maxDigits || len(exponent) < len(text) && len(bytes.Trim(exponent, "+-\" \t\r\n")) > maxExponentDigits {
			return []byte(`"?"`)
		}
		return text
	})
}

// Guard makes a decoder fail for a quantity that is too costly to parse.
func Guard(of runtime.Decoder) runtime.Decoder { return guarded{of} }

type guarded struct{ runtime.Decoder }

// Decode first tries the object without its costly strings. If that succeeds, they are texts.
func (g guarded) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if mayBeCostly(data) {
		if _, kind, err := g.Decoder.Decode(disarm(data), defaults, blank(into)); err != nil {
			return nil, kind, err
		}
	}
	return g.Decoder.Decode(data, defaults, into)
}

// mayBeCostly is a quick look that spares nearly every object the regular expression.
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
