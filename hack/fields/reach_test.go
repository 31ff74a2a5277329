// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
)

// most is how many paths of one child a line shows. More are cut to what they have in common.
const most = 3

// reached returns the fields of children that are different, or missing, without the field. found
// is false if no example has the field.
func reached(t *testing.T, examples []map[string]any, path string) (text string, found bool) {
	t.Helper()
	paths := map[string]map[string]bool{} // by kind
	facts := render.Facts{RouteControllerNamespaces: []string{"ingress"}, MonitoringNamespaces: []string{"monitoring"}}
	ingressOnly := facts
	ingressOnly.WithoutHTTPRoutes = true // Without a class, only such a cluster shows what routes[].type does: else Auto chooses the same.
	for _, facts := range []render.Facts{facts, ingressOnly} {
		if len(paths) == 0 {
			found = compare(t, examples, path, facts, paths)
		}
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(paths)) {
		kinds = append(kinds, strings.TrimSpace(kind+" "+strings.Join(common(slices.Sorted(maps.Keys(paths[kind]))), ", ")))
	}
	return strings.Join(kinds, "; "), found
}

// compare adds the fields of children, by kind, that are different, or missing, without the field, and reports whether an example has it.
func compare(t *testing.T, examples []map[string]any, path string, facts render.Facts, paths map[string]map[string]bool) (found bool) {
	t.Helper()
	for _, example := range examples {
		without := changed(example, path, func(any) any { return nil })
		if without == nil {
			continue
		}
		found = true
		before, after := rendered(t, application(example), facts), rendered(t, application(without), facts)
		for _, pair := range [][2]leaves{{before, after}, {after, before}} {
			for name, value := range pair[0] {
				if other, same := pair[1][name]; same && reflect.DeepEqual(value, other) {
					continue
				}
				kind, at := name.kind, name.path
				if !pair[1].have(name) {
					at = "" // the child as a whole
				}
				if paths[kind] == nil {
					paths[kind] = map[string]bool{}
				}
				paths[kind][at] = true
			}
		}
	}
	return found
}

// leaf is a value in a child: object is its kind and name, path has [] for an item.
type leaf struct{ kind, object, place, path string }

type leaves map[leaf]any

func (l leaves) have(name leaf) bool {
	_, found := l[leaf{kind: name.kind, object: name.object}]
	return found
}

// rendered are the values in all children of the Application. A ControllerRevision copies what the
// others have, and hashes follow from it.
func rendered(t *testing.T, app *v1.Application, facts render.Facts) leaves {
	t.Helper()
	app.Namespace = "shop"
	children, err := render.Children(app, facts)
	if err != nil {
		t.Fatal(err)
	}
	all := leaves{}
	for _, desired := range children {
		encoded, err := json.Marshal(desired.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(encoded, &fields); err != nil {
			t.Fatal(err)
		}
		whole := leaf{kind: desired.Kind.Kind, object: desired.Name}
		all[whole] = nil
		all.add(whole, fields)
	}
	return all
}

func (l leaves) add(at leaf, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			next := at
			next.place, next.path = at.place+"."+name, strings.TrimPrefix(at.path+"."+name, ".")
			if strings.ContainsAny(name, "./") { // a key that somebody chose
				next.path = at.path + "{}"
			}
			l.add(next, below)
		}
	case []any:
		for i, item := range value {
			next := at
			next.place, next.path = fmt.Sprintf("%s[%d]", at.place, i), at.path+"[]"
			l.add(next, item)
		}
	default:
		l[at] = value
	}
}

// common shortens the paths until there are few.
func common(paths []string) []string {
	if len(paths) > 0 && paths[0] == "" {
		return nil // All of it.
	}
	for len(paths) > most {
		deepest := slices.MaxFunc(paths, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })
		cut := strings.LastIndex(deepest, ".")
		if cut < 0 {
			break
		}
		short := deepest[:cut]
		paths = slices.DeleteFunc(paths, func(path string) bool { return path == short || strings.HasPrefix(path, short+".") })
		paths = append(paths, short)
	}
	slices.Sort(paths)
	for i := range paths {
		paths[i] = "`" + paths[i] + "`"
	}
	return paths
}
