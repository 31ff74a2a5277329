// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
)

// edit changes one place of an object. It is drawn without the object, so that it shrinks independently.
type edit struct {
	node  node
	what  string
	value any
	// pick selects among the items of lists on the path, or among the lists to stretch.
	pick int
	deep bool
}

// The kinds of edits. Failures shrink towards the first.
const (
	set    = "set"
	remove = "remove"
	// repeat adds a copy of an item, and recase a copy that differs only in the case of its letters.
	repeat = "repeat"
	recase = "recase"
	// stretch fills a list of the object with variations of its items; a deep one also fills the lists within them.
	stretch = "stretch"
)

// absent stands for a value that an edit removes.
var absent any = new(struct{ _ int })

func (e edit) String() string {
	switch e.what {
	case set:
	case stretch:
		return fmt.Sprintf("stretch list %d, deep %t", e.pick, e.deep)
	default:
		return fmt.Sprintf("%s %s (%d)", e.what, e.node, e.pick)
	}
	return fmt.Sprintf("set %s to %s (%d)", e.node, shortened(fmt.Sprint(e.value), 200), e.pick)
}

func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:most], len(text))
}

// drawEdit draws an edit. It selects the field in one of five ways: by descending from the spec, which prefers
// Fairlead's own fields; uniformly, which prefers fields deep inside Kubernetes' types; by the form of its values,
// which prefers forms that few fields have; a list of the object, to stretch; or any list, to fill.
func (g *Generator) drawEdit(t *rapid.T) edit {
	e := edit{pick: rapid.IntRange(0, 5).Draw(t, "pick")}
	switch oneOf(t, "kind of edit", []int{0, 1, 2, 2, 2, 3, 3, 4}) {
	case 0:
		e.node = g.walk(t)
	case 1:
		e.node = oneOf(t, "field", g.nodes)
	case 2:
		e.node = oneOf(t, "field", oneOf(t, "form", g.alike))
	case 3:
		e.what, e.pick, e.deep = stretch, oneOf(t, "list", hundred), rapid.Bool().Draw(t, "deep")
		return e
	default:
		e.what, e.node = set, oneOf(t, "list", g.lists)
		e.value = drawer{t: t, full: true}.value(e.node.schema, 0)
		return e
	}
	e.what = oneOf(t, "what", []string{set, set, set, set, set, remove, repeat, recase})
	if e.what == set {
		e.value = drawer{t: t}.value(e.node.schema, 0)
	}
	return e
}

// walk descends from the spec and stops at a random node.
func (g *Generator) walk(t *rapid.T) node {
	at, length := g.nodes[0].path[:1], 1
	for {
		var below []node
		for _, n := range g.nodes {
			if len(n.path) == length+1 && slices.Equal(n.path[:length], at) {
				below = append(below, n)
			}
		}
		next := oneOf(t, "below", below)
		if next.schema.Items == nil && len(next.schema.Properties) == 0 && !isMap(next.schema) || rapid.Bool().Draw(t, "stop") || len(next.path) >= maxDepth {
			return next
		}
		at, length = next.path, length+1
	}
}

// change returns the value after the edit at the path below it.
func (e edit) change(value any, s *schema.Structural, path []string) any {
	if len(path) == 0 {
		return e.changeHere(value, s)
	}
	if value == nil {
		value = simplest(s)
	}
	switch step := path[0]; step {
	case anItem:
		return e.changeItem(value, s, path[1:])
	case anEntry:
		entries, _ := value.(map[string]any)
		keys := slices.Sorted(maps.Keys(entries))
		key := "key"
		if len(keys) > 0 && e.pick > 0 {
			key = keys[e.pick%len(keys)]
		}
		return with(entries, key, e.change(entries[key], s.AdditionalProperties.Structural, path[1:]))
	default:
		fields, _ := value.(map[string]any)
		below := s.Properties[step]
		return with(fields, step, e.change(fields[step], &below, path[1:]))
	}
}

func (e edit) changeItem(value any, s *schema.Structural, path []string) any {
	items, _ := value.([]any)
	if len(items) == 0 || e.pick == 0 {
		item := e.change(nil, s.Items, path)
		if item == absent {
			return items
		}
		return append(items, varied(s, item, len(items)))
	}
	i := e.pick % len(items)
	if items[i] = e.change(items[i], s.Items, path); items[i] == absent {
		return slices.Delete(items, i, i+1)
	}
	return items
}

func (e edit) changeHere(value any, s *schema.Structural) any {
	switch e.what {
	case set:
		return runtime.DeepCopyJSONValue(e.value)
	case remove:
		return absent
	}
	switch value := value.(type) {
	case []any:
		if len(value) == 0 {
			return value
		}
		copied := runtime.DeepCopyJSONValue(value[e.pick%len(value)])
		if e.what == recase {
			copied = recased(copied)
		}
		return append(value, copied)
	case map[string]any:
		if keys := slices.Sorted(maps.Keys(value)); isMap(s) && len(keys) > 0 {
			key := keys[e.pick%len(keys)]
			value[swapCase(key)] = value[key]
		}
		return value
	case string:
		return swapCase(value)
	case nil:
		return absent
	default:
		return value
	}
}

// with sets an entry, or deletes it if the value is absent.
func with(entries map[string]any, key string, value any) map[string]any {
	if entries == nil {
		entries = map[string]any{}
	}
	if value == absent {
		delete(entries, key)
	} else {
		entries[key] = value
	}
	return entries
}
