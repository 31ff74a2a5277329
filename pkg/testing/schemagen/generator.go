// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen

import (
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"fairlead.dev/fairlead/pkg/crdschema"
)

const (
	// maxEdits is small, so that many objects stay valid, and large enough for edits that fail only together.
	maxEdits = 4
	// maxBytes keeps objects within a request to etcd, together with the managedFields that the API server adds.
	maxBytes = 1 << 20
)

// Generator draws objects of one resource.
type Generator struct {
	resource *crdschema.Resource
	seeds    []map[string]any
	// nodes are all nodes that can be edited, and lists those with a variable number of items or entries.
	nodes, lists []node
	// alike groups the nodes by the form of their values.
	alike [][]node
}

// New returns a generator that edits the seeds, which the API server must accept. Failures shrink
// towards the first.
func New(ctx context.Context, resource *crdschema.Resource, seeds ...map[string]any) (*Generator, error) {
	if len(seeds) == 0 {
		return nil, fmt.Errorf("%s: no seeds", resource.Kind)
	}
	for _, seed := range seeds {
		if errs := resource.Check(ctx, seed); len(errs) > 0 {
			return nil, fmt.Errorf("the API server would refuse the seed %s: %w", name(seed), errs.ToAggregate())
		}
	}
	spec := resource.Structural.Properties["spec"]
	g := &Generator{resource: resource, seeds: seeds, nodes: nodesOf(&spec, []string{"spec"})}
	index := map[string]int{}
	for _, n := range g.nodes {
		if n.isList() && n.depth() <= 1 {
			g.lists = append(g.lists, n)
		}
		form := n.form()
		if _, found := index[form]; !found {
			index[form] = len(g.alike)
			g.alike = append(g.alike, nil)
		}
		g.alike[index[form]] = append(g.alike[index[form]], n)
	}
	return g, nil
}

// Object is a drawn object. It prints as the edits that produced it.
type Object struct {
	// Fields are the fields that the API server would store, with the defaults of the schema.
	Fields map[string]any

	edits []edit
}

// Edits returns how many edits the object is from a seed.
func (o Object) Edits() int { return len(o.edits) }

// GoString returns the text that rapid prints.
func (o Object) GoString() string {
	var text strings.Builder
	for _, e := range o.edits {
		fmt.Fprintf(&text, "\n  %s", e)
	}
	encoded, err := json.Marshal(o.Fields)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("an object of %d bytes after %d edits:%s\n  %s", len(encoded), len(o.edits), text.String(), shortened(string(encoded), 2000))
}

// Objects generates objects that the API server would store.
func (g *Generator) Objects(ctx context.Context) *rapid.Generator[Object] {
	edits := rapid.SliceOfN(rapid.Custom(g.drawEdit), 0, maxEdits)
	return rapid.Custom(func(t *rapid.T) Object {
		object := Object{Fields: runtime.DeepCopyJSON(oneOf(t, "seed", g.seeds))}
		drawMetadata(t, object.Fields)
		for _, e := range edits.Draw(t, "edits") {
			if changed := g.edited(ctx, object.Fields, e); changed != nil {
				object.Fields, object.edits = changed, append(object.edits, e)
			}
		}
		return object
	})
}

// oneOf draws an element, each with the same probability. rapid itself prefers the first ones, and would hardly ever
// draw the last ones of a long list. It still shrinks to the first.
func oneOf[T any](t *rapid.T, label string, elements []T) T {
	index := 0
	for range bits.Len(uint(len(elements))) + 3 {
		index *= 2
		if rapid.Bool().Draw(t, label) {
			index++
		}
	}
	return elements[index%len(elements)]
}

// edited returns the object after the edit, or nil if the API server would refuse it.
func (g *Generator) edited(ctx context.Context, object map[string]any, e edit) map[string]any {
	changed := runtime.DeepCopyJSON(object)
	if spec := g.nodes[0].root; e.what == stretch {
		changed["spec"] = stretched(changed["spec"], spec, e)
	} else {
		changed["spec"] = e.change(changed["spec"], spec, e.node.path[1:])
	}
	if tooLarge(changed) {
		return nil
	}
	return g.repaired(ctx, changed, e)
}

func tooLarge(object map[string]any) bool {
	encoded, err := json.Marshal(object)
	return err != nil || len(encoded) > maxBytes
}

// drawMetadata draws the metadata that users choose.
func drawMetadata(t *rapid.T, object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	metadata["name"] = oneOf(t, "name", []string{name(object), "w", longName})
	if !oneOf(t, "decorated", []bool{false, false, false, true}) {
		return
	}
	metadata["labels"] = map[string]any{"team": longName, "app.kubernetes.io/name": "other"}
	metadata["annotations"] = map[string]any{"example.com/note": oddities[len(oddities)-1]}
}

func name(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	text, _ := metadata["name"].(string)
	return text
}
