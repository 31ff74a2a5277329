// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// A hostile object has many fields that do not decode, and large ones. These constants bound what the decoder records of
// them, and the time to find them. A field of an ordinary object takes about as many attempts as the lists above it have
// elements.
const (
	maxErrors   = 20
	maxAttempts = 3000
	maxValue    = 64
)

// fields are the fields of a JSON object.
type fields = map[string]json.RawMessage

// pruned is a document without the fields that do not decode.
type pruned struct {
	document []byte
	isList   bool
	// errs has the errors of each item of a list, or those of the single object.
	errs [][]v1.DecodeError
}

// prune leaves out of an object, or of the items of a list, what decodes refuses. found is false if nothing remains.
func prune(data []byte, decodes func(document []byte) error) (p pruned, found bool) {
	var document struct {
		Metadata json.RawMessage   `json:"metadata,omitempty"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &document); err != nil || document.Items == nil {
		var object pruner
		p.document, found = object.pruneObject(data, decodes)
		p.errs = append(p.errs, object.errs)
		return p, found
	}
	items := document.Items
	document.Items = []json.RawMessage{}
	for _, item := range items {
		var object pruner
		kept, found := object.pruneObject(item, func(value []byte) error {
			return decodes(encode(map[string][]json.RawMessage{"items": {value}}))
		})
		if found {
			document.Items = append(document.Items, kept)
			p.errs = append(p.errs, object.errs)
		}
	}
	p.document, p.isList = encode(document), true
	return p, true
}

// note records the errors in the object to which the document was decoded, or in the items of the list.
func (p pruned) note(decoded runtime.Object) error {
	if !p.isList {
		setErrors(decoded, p.errs[0])
		return nil
	}
	next := 0
	return meta.EachListItem(decoded, func(item runtime.Object) error {
		setErrors(item, p.errs[next])
		next++
		return nil
	})
}

// pruner collects the errors of one object.
type pruner struct {
	errs []v1.DecodeError
	// attempts are left for one of metadata, spec and status. Below 0 the pruner gives up on it.
	attempts int
}

// pruneObject prunes metadata, spec and status separately, so that a bad one costs the others nothing.
func (p *pruner) pruneObject(object json.RawMessage, decodes func(object []byte) error) (kept json.RawMessage, found bool) {
	var parts fields
	if json.Unmarshal(object, &parts) != nil || decodes([]byte("{}")) != nil {
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		p.attempts = maxAttempts
		kept, found := p.prune(parts[name], field.NewPath(name), func(part []byte) error {
			return decodes(encode(fields{name: part}))
		})
		if p.attempts < 0 {
			found = false
			p.errs = append(p.errs, v1.DecodeError{Field: name, Detail: "too many of its fields cannot be decoded"})
		}
		if parts[name] = kept; !found {
			delete(parts, name)
		}
	}
	return encode(parts), true
}

// prune returns as much of a value as decodes accepts. It descends to the fields to blame, so that callers still find
// the rest of the object, such as its host names.
func (p *pruner) prune(value json.RawMessage, at *field.Path, decodes func(value []byte) error) (kept json.RawMessage, found bool) {
	p.attempts--
	if p.attempts < 0 {
		return nil, false
	}
	err := decodes(value)
	if err == nil {
		return value, true
	}
	var members fields
	if json.Unmarshal(value, &members) == nil && decodes([]byte("{}")) == nil {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			kept, found := p.prune(members[name], below(at, name), func(member []byte) error {
				return decodes(encode(fields{name: member}))
			})
			if members[name] = kept; !found {
				delete(members, name)
			}
		}
		return encode(members), true
	}
	var elements []json.RawMessage
	if json.Unmarshal(value, &elements) == nil && decodes([]byte("[]")) == nil {
		remaining := []json.RawMessage{}
		for i, element := range elements {
			kept, found := p.prune(element, at.Index(i), func(element []byte) error {
				return decodes(encode([]json.RawMessage{element}))
			})
			if found {
				remaining = append(remaining, kept)
			}
		}
		return encode(remaining), true
	}
	if len(p.errs) == maxErrors {
		p.attempts = -1
		return nil, false
	}
	p.errs = append(p.errs, v1.DecodeError{Field: at.String(), Value: shown(value), Detail: detail(err)})
	return nil, false
}

// below returns the path of a field, or of a map key that is no valid field name.
func below(at *field.Path, name string) *field.Path {
	if strings.ContainsAny(name, "./") {
		return at.Key(name)
	}
	return at.Child(name)
}

// encode encodes a value that was decoded from JSON, which cannot fail.
func encode(value any) json.RawMessage {
	encoded, _ := json.Marshal(value)
	return encoded
}

// shown returns the beginning of a value; a string loses its quotes.
func shown(value json.RawMessage) string {
	text := string(bytes.TrimSpace(value))
	var unquoted string
	if json.Unmarshal(value, &unquoted) == nil {
		text = unquoted
	}
	if len(text) > maxValue {
		text = text[:maxValue] + "…"
	}
	return strings.ToValidUTF8(text, "")
}

// detail returns what a value must be. The messages of encoding/json are about Go types.
func detail(err error) string {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err.Error()
	}
	switch mismatch.Type.Kind() {
	case reflect.Bool:
		return "must be true or false"
	case reflect.String:
		return "must be a string"
	case reflect.Slice, reflect.Array:
		return "must be a list"
	case reflect.Struct, reflect.Map:
		return "must be an object"
	default:
		return "must be a number of type " + mismatch.Type.String()
	}
}
