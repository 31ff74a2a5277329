// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// Where nothing is to be done, the quick answer is enough, whatever others have added.
func TestSettledChildrenAreAlike(t *testing.T) {
	for name, spec := range map[string]string{"every kind": fullSpec, "six children": sixChildren, "a worker": ""} {
		t.Run(name, func(t *testing.T) {
			snapshot := settled(t, application(t, spec))
			decorate(snapshot)
			for _, desired := range rendered(t, snapshot.Application) {
				if !differ.FastEqual(desired, snapshot.Children[desired.Ref]) {
					t.Errorf("%s is compared by structured merge", desired.Ref)
				}
			}
		})
	}
}

// The quick answer never overlooks what structured merge sees.
func TestAlikeIsNeverWrong(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		snapshot := settled(t, rendertest.Applications().Draw(t, "live"))
		if rapid.Bool().Draw(t, "decorated") {
			decorate(snapshot)
		}
		other := rendertest.Applications().Draw(t, "rendered")
		other.Namespace, other.Name, other.UID = snapshot.Application.Namespace, snapshot.Application.Name, snapshot.Application.UID
		for _, desired := range append(rendered(t, snapshot.Application), rendered(t, other)...) {
			live, found := snapshot.Children[desired.Ref]
			if !found || !differ.FastEqual(desired, live) {
				continue
			}
			difference, err := differ.Merge(desired, live)
			if err != nil || len(difference.Fields) > 0 || difference.PrePatch != nil {
				t.Fatalf("%s: %v %v %v", desired.Ref, difference.Fields, difference.PrePatch, err)
			}
		}
	})
}

// Where it is not sure it says no.
func TestAlikeIsCareful(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(child.Snapshot)
	}{
		{"a variable of others is there twice", func(s child.Snapshot) {
			env := &pod(s).Containers[0].Env
			*env = append(*env, corev1.EnvVar{Name: "B"}, corev1.EnvVar{Name: "B"})
		}},
		{"one of ours is there twice", func(s child.Snapshot) {
			env := &pod(s).Containers[0].Env
			*env = append(*env, corev1.EnvVar{Name: (*env)[0].Name, Value: "other"})
		}},
		{"items stand in another order", func(s child.Snapshot) {
			env := pod(s).Containers[0].Env
			env[0], env[1] = env[1], env[0]
		}},
		{"an item is gone", func(s child.Snapshot) { pod(s).Containers[0].Env = pod(s).Containers[0].Env[:1] }},
		{"the list is gone", func(s child.Snapshot) { pod(s).Containers[0].Env = nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, sixChildren))
			test.change(snapshot)
			for _, desired := range rendered(t, snapshot.Application) {
				if desired.Kind == child.Deployment && differ.FastEqual(desired, snapshot.Children[desired.Ref]) {
					t.Error("they are taken for fastEqual")
				}
			}
		})
	}
}
