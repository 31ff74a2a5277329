// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"iter"
	"regexp"
	"unicode/utf8"

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

// quantity matches what would be a quantity in a field of that type, and captures its exponent.
var quantity = regexp.MustCompile(`^[\s\p{Z}\x{85}0-9.+-]*(?:[eE][+-]?([0-9]+)|[A-Za-z]{0,2})[\s\p{Z}\x{85}]*$`)

// Guard returns a decoder that fails for a quantity that is too costly to parse.
func Guard(of runtime.Decoder) runtime.Decoder { return guarded{of} }

type guarded struct{ runtime.Decoder }

// Decode first decodes the object without its costly strings. If that succeeds, they are ordinary text.
func (g guarded) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if disarmed, found := disarm(data); found {
		if _, kind, err := g.Decoder.Decode(disarmed, defaults, blank(into)); err != nil {
			return nil, kind, err
		}
	}
	return g.Decoder.Decode(data, defaults, into)
}

// disarm replaces the costly quantities of a JSON document by a string that is no quantity, and reports whether there are any.
// Every event and every review of an Application passes here, so costly dismisses most strings by their length or first byte.
func disarm(document []byte) (disarmed []byte, found bool) {
	kept := 0 // disarmed has what comes before.
	for text, start := range texts(document) {
		if costly(text) {
			disarmed = append(append(disarmed, document[kept:start]...), '?')
			kept, found = start+len(text), true
		}
	}
	if !found {
		return document, false
	}
	return append(disarmed, document[kept:]...), true
}

// texts yields what is between the quotes of each string of a JSON document, and where it starts.
func texts(document []byte) iter.Seq2[[]byte, int] {
	return func(yield func(text []byte, start int) bool) {
		for at := 0; ; {
			quote := bytes.IndexByte(document[at:], '"')
			if quote < 0 {
				return
			}
			start := at + quote + 1
			end := start
			for end < len(document) && document[end] != '"' {
				if document[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(document) || !yield(document[start:end], start) {
				return
			}
			at = end + 1
		}
	}
}

// costly reports whether a string would be too costly to parse as a quantity.
func costly(text []byte) bool {
	if len(text) <= maxExponentDigits || !startsQuantity(text[0]) {
		return false
	}
	exponent := bytes.LastIndexAny(text, "eE")
	if len(text) <= maxDigits && (exponent < 0 || len(text)-exponent <= maxExponentDigits) {
		return false
	}
	match := quantity.FindSubmatch(text)
	return len(match) > 1 && (len(text) > maxDigits || len(match[1]) > maxExponentDigits)
}

// startsQuantity reports whether a text that is longer than a unit, and starts with the byte, may match the expression.
func startsQuantity(first byte) bool {
	return first >= '0' && first <= '9' || first >= utf8.RuneSelf || bytes.IndexByte([]byte(" \t\n\v\f\r.+-eE"), first) >= 0
}
