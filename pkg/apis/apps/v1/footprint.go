// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"reflect"
)

// mapEntryOverhead is roughly what a map takes for an entry beside key and value.
const mapEntryOverhead = 16

// footprint is how many bytes a value takes in memory, with everything that it points to. Encoded it may
// be far smaller: "{}" is two bytes in a list of JSON, and forty-eight as a NodeSelectorTerm. It stops counting
// once there are more than limit.
func footprint(value any, limit int) int {
	f := counter{limit: limit}
	f.pointedTo(reflect.ValueOf(value))
	return f.bytes
}

// counter counts bytes up to a limit. It adds perElement for each element of a list or map.
type counter struct{ bytes, limit, perElement int }

func (c *counter) add(size uintptr, times int) bool {
	c.bytes += int(size) * times
	return c.bytes <= c.limit
}

func (c *counter) addElements(size uintptr, length int) bool {
	c.bytes += c.perElement * length
	return c.add(size, length)
}

// pointedTo counts what is reachable from v. The bytes of v itself belong to what holds it.
func (c *counter) pointedTo(v reflect.Value) {
	if c.bytes > c.limit {
		return
	}
	switch v.Kind() {
	case reflect.String:
		c.add(1, v.Len())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && c.add(v.Elem().Type().Size(), 1) {
			c.pointedTo(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			c.pointedTo(field)
		}
	case reflect.Slice:
		if c.addElements(v.Type().Elem().Size(), v.Len()) && !isScalar(v.Type().Elem()) {
			for i := range v.Len() {
				c.pointedTo(v.Index(i))
			}
		}
	case reflect.Map:
		if c.addElements(v.Type().Key().Size()+v.Type().Elem().Size()+mapEntryOverhead, v.Len()) {
			for entries := v.MapRange(); entries.Next(); {
				c.pointedTo(entries.Key())
				c.pointedTo(entries.Value())
			}
		}
	}
}

// isScalar reports whether values of the type point to nothing.
func isScalar(t reflect.Type) bool {
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128
}
