// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

// TestF18TheWayMakesNoDifference takes Applications through several specs, and creates others with the last one at
// once. Their children must be equal, field by field: no field, port, rule, child, label or annotation of an earlier
// spec may remain.
func TestF18TheWayMakesNoDifference(t *testing.T) {
	t.Parallel()
	naming := func(s *setup) { s.AllowUnreviewedServiceAccounts = true }
	changed, fresh := start(t, naming), start(t, naming)
	for _, test := range transitions(t) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			changed, fresh := changed.sub(t), fresh.sub(t)
			last := test.specs[len(test.specs)-1]
			fresh.create(applicationOf(test.name, last))
			changed.create(applicationOf(test.name, test.specs[0]))
			for _, spec := range test.specs[1:] {
				changed.waitWritten(test.name)
				changed.editSpec(test.name, func(live *v1.ApplicationSpec) { *live = spec })
			}
			// Once more without waiting, so that some of what is on the way is never seen.
			for _, spec := range test.specs {
				changed.editSpec(test.name, func(live *v1.ApplicationSpec) { *live = spec })
			}
			want := fresh.waitWritten(test.name)
			changed.waitWritten(test.name)
			changed.eventually("the children are those of a new Application (-new +changed)", func() (bool, string) {
				diff := cmp.Diff(fresh.comparable(want), changed.comparable(changed.application(test.name)))
				return diff == "", diff
			})
		})
	}
}

// waitWritten waits until every child is written; its pods need not run.
func (e *env) waitWritten(name string) *v1.Application {
	e.Helper()
	return e.waitApplication(name, "every child is written", func(application *v1.Application) bool {
		for _, resource := range application.Status.Resources {
			if resource.State != v1.ResourceSynced {
				return false
			}
		}
		return len(application.Status.Resources) > 0
	})
}

// comparable are the contents of all children, without what two namespaces cannot have in common,
// and without a number of replicas that no spec sets.
func (e *env) comparable(application *v1.Application) map[string]any {
	e.Helper()
	contents := e.contents(application)
	if deployment, ok := contents[child.Deployment.Kind+" "+application.Name].(map[string]any); ok && !fixedReplicas(application.Spec) {
		unstructured.RemoveNestedField(deployment, "spec", "replicas")
		// A Deployment that was made for an autoscaler started from a number of Fairlead's.
		unstructured.RemoveNestedField(deployment, "metadata", "annotations", v1.AnnotationReplicasManaged)
		if annotations, _, _ := unstructured.NestedMap(deployment, "metadata", "annotations"); len(annotations) == 0 {
			unstructured.RemoveNestedField(deployment, "metadata", "annotations")
		}
	}
	encoded, err := json.Marshal(contents)
	if err != nil {
		e.Fatal(err)
	}
	var renamed map[string]any
	if err := json.Unmarshal([]byte(strings.NewReplacer(e.namespace, "namespace", string(application.UID), "uid").Replace(string(encoded))), &renamed); err != nil {
		e.Fatal(err)
	}
	return renamed
}

func fixedReplicas(spec v1.ApplicationSpec) bool {
	if autoscaling := spec.Autoscaling; autoscaling != nil {
		return autoscaling.MinReplicas != nil && *autoscaling.MinReplicas == autoscaling.MaxReplicas
	}
	return spec.Replicas != nil
}

func applicationOf(name string, spec v1.ApplicationSpec) *v1.Application {
	return &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}

type transition struct {
	name  string
	specs []v1.ApplicationSpec
}

// draws is how many transitions are drawn. They are the same in every run.
const draws = 12

// transitions are some that were picked by hand, because they are hard, and some that were drawn.
func transitions(t *testing.T) []transition {
	t.Helper()
	var all []transition
	for name, specs := range pickedTransitions() {
		picked := transition{name: name}
		for _, spec := range specs {
			picked.specs = append(picked.specs, parseSpec(t, spec))
		}
		all = append(all, picked)
	}
	generator := rendertest.Specs()
	for i := range draws {
		drawn := transition{name: fmt.Sprintf("drawn-%d", i)}
		for j := range 3 {
			spec := generator.Example(3*i + j)
			// What they are about here are the children, and not what pods do, nor what they would wait for.
			spec.Paused, spec.ReconcilePolicy, spec.ConfigChangePolicy = new(true), v1.ReconcileEnforce, v1.ConfigChangeIgnore
			drawn.specs = append(drawn.specs, spec)
		}
		all = append(all, drawn)
	}
	for _, transition := range all {
		for _, spec := range transition.specs {
			ownHostnames(transition.name, spec.Routes)
		}
	}
	return all
}

// ownHostnames makes the host names differ from those of other Applications, since each belongs to one.
func ownHostnames(name string, routes []v1.Route) {
	for _, route := range routes {
		for i, hostname := range route.Hostnames {
			rest, wildcard := strings.CutPrefix(hostname, "*.")
			route.Hostnames[i] = name + "." + rest
			if wildcard {
				route.Hostnames[i] = "*." + route.Hostnames[i]
			}
		}
	}
}
