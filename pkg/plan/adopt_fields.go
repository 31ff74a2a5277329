// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// A forced apply alone would not do. It adds containers and volumes to those of the live template, because lists are
// merged by name, and those of other managers stay. So the Application first becomes the only owner of what it renders,
// of the whole pod template and of the strategy; the apply then removes from them what it does not render. Everything
// else stays with its managers: above all the selector and, if the spec leaves it open, the number of pods.

// AdoptedWhole are the parts of an adopted object that become exactly as they are rendered.
func AdoptedWhole() *fieldpath.Set {
	return fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "template"), fieldpath.MakePathOrDie("spec", "strategy"))
}

// identity are the fields of a rendered child that no field manager owns.
var identity = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"), fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "name"), fieldpath.MakePathOrDie("metadata", "namespace"),
)

// adoptedFields returns the fields of which the Application becomes the owner: those that it renders, those of the live
// object that become exactly as rendered, and the consent, which it removes.
func (d Differ) adoptedFields(desired child.Desired, live child.Object) (*fieldpath.Set, error) {
	object, err := desired.Object()
	if err != nil {
		return nil, err
	}
	rendered, present, wantErr, haveErr := d.read().typedPair(desired.Kind, object, live)
	if wantErr != nil {
		return nil, fmt.Errorf("read rendered %s: %w", desired.Ref, wantErr)
	}
	if haveErr != nil {
		return nil, fmt.Errorf("read live %s: %w", desired.Ref, haveErr)
	}
	fields, err := fieldsOfTyped(desired, rendered)
	if err != nil {
		return nil, err
	}
	liveFields, err := fieldsOfTyped(desired, present)
	if err != nil {
		return nil, err
	}
	outside := liveFields.RecursiveDifference(AdoptedWhole())
	whole := liveFields.Difference(outside)
	consent := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", v1.AnnotationAdoptableBy))
	return fields.Union(whole).Union(consent).Difference(identity), nil
}

func fieldsOfTyped(desired child.Desired, object *typed.TypedValue) (*fieldpath.Set, error) {
	fields, err := object.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("list fields of %s: %w", desired.Ref, err)
	}
	return fields, nil
}
