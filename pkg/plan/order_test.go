// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/pkg/child"
)

func TestMisplaced(t *testing.T) {
	const rendered = `{spec: {template: {spec: {
		initContainers: [{name: a}, {name: b}],
		containers: [{name: web, env: [{name: A}, {name: B}, {name: C}]}, {name: x}]}}}}`
	for _, test := range []struct {
		name string
		live string
		want []string
	}{
		{name: "the same", live: rendered},
		{name: "items of others between, before and behind", live: `{spec: {template: {spec: {
			initContainers: [{name: injected}, {name: a}, {name: b}],
			containers: [{name: web, env: [{name: Z}, {name: A}, {name: X}, {name: B}, {name: C}]}, {name: proxy}, {name: x}]}}}}`},
		{name: "some are missing", live: `{spec: {template: {spec: {initContainers: [{name: b}], containers: [{name: web, env: [{name: A}, {name: C}]}]}}}}`},
		{name: "init containers", live: `{spec: {template: {spec: {initContainers: [{name: b}, {name: a}], containers: [{name: web}]}}}}`,
			want: []string{".spec.template.spec.initContainers"}},
		{name: "containers", live: `{spec: {template: {spec: {containers: [{name: x}, {name: web}]}}}}`,
			want: []string{".spec.template.spec.containers"}},
		{name: "variables, the first behind the others", live: `{spec: {template: {spec: {containers: [{name: web, env: [{name: B}, {name: C}, {name: A}]}]}}}}`,
			want: []string{`.spec.template.spec.containers[name="web"].env`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			desired := object(t, child.Deployment, rendered)
			live := &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object(t, child.Deployment, test.live).Object, live); err != nil {
				t.Fatal(err)
			}
			if got := reordered(desired, live); !slices.Equal(got, test.want) {
				t.Errorf("reordered are %q, want %q", got, test.want)
			}
		})
	}
}
