// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"fairlead.dev/fairlead/pkg/child"
)

// Differ compares a rendered child with a live one as server-side apply would: list items by their keys, atomic values as a
// whole. It ignores fields that were not rendered, which the API server's defaults, autoscalers or users set.
type Differ struct {
	read func() differ
}

// differ has the schemas of the kinds.
type differ struct {
	converter managedfields.TypeConverter
	custom    typed.ParseableType
	schemas   schemas
}

// NewDiffer makes a Differ for the built-in types of the scheme, and for the optional kinds. The schemas are read when
// they are first needed, or before that by Warm.
func NewDiffer(scheme *runtime.Scheme) Differ {
	return Differ{read: sync.OnceValue(func() differ {
		converter := newBuiltInConverter(scheme)
		custom := newCustomType()
		return differ{converter: converter, custom: custom, schemas: schemasOf(converter, custom)}
	})}
}

// Warm reads the schemas, which takes longer than the comparisons of hundreds of syncs. Call it at the start, while the caches fill.
func (d Differ) Warm() { d.read() }

// Difference is how a live child differs from the rendered one.
type Difference struct {
	// Fields are the paths of rendered fields that are missing or different, in a stable order, and of lists in another
	// order (see order.go). Without any, an apply would change nothing.
	Fields []string
	// PrePatch is the strategic merge patch to send before the apply, if another writer changed the keys of
	// list items (see prepatch.go), or set fields that exclude the rendered ones (see union.go).
	PrePatch map[string]any
	// live is the live child, and paths are those of the Fields without the lists in another order.
	live  *typed.TypedValue
	paths *fieldpath.Set
}

// Compare returns the difference. It returns an error if an object does not fit its schema.
func (d Differ) Compare(desired child.Desired, live child.Object) (Difference, error) {
	read := d.read()
	if read.schemas.fastEqual(desired, live) {
		return Difference{}, nil
	}
	return read.merge(desired, live)
}

// merge computes the difference by structured merge.
func (d differ) merge(desired child.Desired, live child.Object) (Difference, error) {
	object, err := desired.Object()
	if err != nil {
		return Difference{}, err
	}
	want, have, wantErr, haveErr := d.typedPair(desired.Kind, object, live)
	if wantErr != nil {
		return Difference{}, fmt.Errorf("read rendered %s: %w", desired.Ref, wantErr)
	}
	if haveErr != nil {
		return Difference{}, fmt.Errorf("read live %s: %w", desired.Ref, haveErr)
	}
	comparison, err := want.Compare(have)
	if err != nil {
		return Difference{}, fmt.Errorf("compare %s: %w", desired.Ref, err)
	}
	var difference Difference
	// Removed are the fields that only the rendered object has.
	differing := comparison.Removed.Union(comparison.Modified)
	for path := range differing.All() {
		difference.Fields = append(difference.Fields, path.String())
	}
	difference.live, difference.paths = have, differing
	difference.Fields = append(difference.Fields, reordered(object, live)...)
	difference.PrePatch = replaceSiblings(prePatch(object, comparison), desired.Kind, object.Object, comparison)
	return difference, nil
}
