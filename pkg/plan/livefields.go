// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/pkg/child"
)

// LiveFields returns the fields of the live child that one of its renderings has, or that an apply of the last rendering removes, with
// their live values, for a comparison with that rendering. What other clients and the API server's defaults set beside them is left out.
func (d Differ) LiveFields(live child.Object, renderings ...child.Desired) (any, error) {
	fields := fieldpath.NewSet()
	for i, rendered := range renderings {
		object, err := rendered.Object()
		if err != nil {
			return nil, err
		}
		want, have, wantErr, haveErr := d.read().typedPair(rendered.Kind, object, live)
		if wantErr != nil {
			return nil, fmt.Errorf("read rendered %s: %w", rendered.Ref, wantErr)
		}
		if haveErr != nil {
			return nil, fmt.Errorf("read live %s: %w", rendered.Ref, haveErr)
		}
		found, err := fieldsOfTyped(rendered, want)
		if err != nil {
			return nil, err
		}
		if fields = fields.Union(found.Leaves()); i < len(renderings)-1 {
			continue
		}
		removed, err := d.removed(rendered, found, live, have)
		if err != nil {
			return nil, err
		}
		// ExtractItems drops what is below a path that the set has beside the paths below it.
		return have.ExtractItems(fields.Union(removed).Leaves()).AsValue().Unstructured(), nil
	}
	return nil, nil
}

// AdoptedLiveFields returns the fields of the live object of an Adopt that become as rendered, and those that are not rendered and go, with
// their live values, for a comparison with the rendering of the step.
func (d Differ) AdoptedLiveFields(step Step) (any, error) {
	object, err := step.Desired.Object()
	if err != nil {
		return nil, err
	}
	want, have, wantErr, haveErr := d.read().typedPair(step.Ref.Kind, object, step.Live)
	if wantErr != nil {
		return nil, fmt.Errorf("read rendered %s: %w", step.Ref, wantErr)
	}
	if haveErr != nil {
		return nil, fmt.Errorf("read live %s: %w", step.Ref, haveErr)
	}
	rendered, err := fieldsOfTyped(*step.Desired, want)
	if err != nil {
		return nil, err
	}
	adopted := withoutDefaults(step.Adopted.Leaves().Difference(rendered), have.AsValue().Unstructured())
	return have.ExtractItems(rendered.Leaves().Union(adopted).Leaves()).AsValue().Unstructured(), nil
}
