// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// An update is held responsible for what it adds, and for nothing that the stored spec has already.
func TestSplitExcess(t *testing.T) {
	const limits = `{maxReplicas: 4, allowedRegistries: [ghcr.io/acme], requireResourceLimits: true}`
	const limited = `resources: {limits: {cpu: 1, memory: 1Gi}}`
	spec := func(fields string) string { return `{image: ghcr.io/acme/web:1, ` + limited + `, ` + fields + `}` }
	sidecars := func(images ...string) string {
		list := ""
		for i, image := range images {
			list += `{name: s` + string(rune('0'+i)) + `, image: "` + image + `", ` + limited + `}, `
		}
		return spec(`sidecars: [` + list + `]`)
	}
	for _, tc := range []struct {
		name            string
		stored, updated string
		added, kept     []string
	}{
		{name: "within the limits", stored: spec(`replicas: 4`), updated: spec(`replicas: 3`)},
		{name: "more than before", stored: spec(`replicas: 4`), updated: spec(`replicas: 9`), added: []string{"spec.replicas"}},
		{name: "as before", stored: spec(`replicas: 9`), updated: spec(`replicas: 9, paused: true`), kept: []string{"spec.replicas"}},
		{name: "less, and still too much", stored: spec(`replicas: 9`), updated: spec(`replicas: 8`), kept: []string{"spec.replicas"}},
		{name: "even more", stored: spec(`replicas: 9`), updated: spec(`replicas: 10`), added: []string{"spec.replicas"}},
		{name: "in another field", stored: spec(`replicas: 9`), updated: spec(`autoscaling: {minReplicas: 9, maxReplicas: 9}`), added: []string{"spec.autoscaling.maxReplicas"}},
		{name: "an item less", stored: sidecars("quay.io/a:1", "quay.io/b:1"), updated: sidecars("quay.io/b:1"), kept: []string{"spec.sidecars[0].image"}},
		{name: "another item", stored: sidecars("quay.io/a:1"), updated: sidecars("quay.io/a:1", "quay.io/c:1"), added: []string{"spec.sidecars[1].image"}, kept: []string{"spec.sidecars[0].image"}},
		{name: "the same item again", stored: sidecars("quay.io/a:1"), updated: sidecars("quay.io/a:1", "quay.io/a:1"), added: []string{"spec.sidecars[1].image"}, kept: []string{"spec.sidecars[0].image"}},
		{name: "another value", stored: sidecars("quay.io/a:1"), updated: sidecars("quay.io/a:2"), added: []string{"spec.sidecars[0].image"}},
		{name: "no limit of the class", stored: spec(`workingDir: relative`), updated: spec(`workingDir: relative, replicas: 1`), added: []string{"spec.workingDir"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			class := applicationClass(t, `limits: `+limits)
			validate := func(spec string) field.ErrorList {
				return ValidateApplication(application(t, spec), Options{Class: class})
			}
			added, kept := SplitExcess(validate(tc.updated), validate(tc.stored))
			if diff := cmp.Diff(tc.added, fieldsOf(added)); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.kept, fieldsOf(kept)); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func fieldsOf(errs field.ErrorList) []string {
	var fields []string
	for _, err := range errs {
		fields = append(fields, err.Field)
	}
	return fields
}

// A number that is left out counts as 1, in the spec that is stored and in the updated one.
func TestSplitExcessOfTheDefault(t *testing.T) {
	for _, tc := range []struct {
		name            string
		stored, updated string
		added, kept     []string
	}{
		{name: "left out as before", updated: `paused: true`, kept: []string{"spec.replicas"}},
		{name: "the default, written down", updated: `replicas: 1`, kept: []string{"spec.replicas"}},
		{name: "removed", stored: `replicas: 3`, kept: []string{"spec.replicas"}},
		{name: "more than the default", updated: `replicas: 2`, added: []string{"spec.replicas"}},
		{name: "begins to be left out", stored: `replicas: 0`, added: []string{"spec.replicas"}},
		{name: "repaired", updated: `replicas: 0`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			class := applicationClass(t, `limits: {maxReplicas: 0}`)
			validate := func(spec string) field.ErrorList {
				return ValidateApplication(application(t, spec), Options{Class: class})
			}
			added, kept := SplitExcess(validate(tc.updated), validate(tc.stored))
			if diff := cmp.Diff(tc.added, fieldsOf(added)); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.kept, fieldsOf(kept)); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}
