// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestEditsOfARefusedSpec: a class was tightened below the replicas of the Application. undo goes back from what runs, although Fairlead does not
// carry the spec out; and no text says that a pause stops the rollout, which Fairlead does not stop either.
func TestEditsOfARefusedSpec(t *testing.T) {
	p := start(t)
	classes := p.fairlead.AppsV1().ApplicationClasses()
	requests := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}}
	class := p.class(v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{Resources: &requests}})
	p.create("web", "{image: example.com/web:1, replicas: 2, className: "+class+"}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"set", "image", "web", "example.com/web:2"})
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	tighten := []byte(`{"spec":{"limits":{"maxReplicas":1}}}`)
	if _, err := classes.Patch(t.Context(), class, types.MergePatchType, tighten, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the class to refuse the spec", func() bool {
		return meta.FindStatusCondition(p.get("web").Status.Conditions, v1.ConditionReady).Reason == v1.ReasonClassLimitExceeded
	})
	p.want(0, []string{"undo", "web", "--dry-run=client"}, p.namespace+"/web: the pods of revision 1 (example.com/web:1) in the spec\n")

	p.want(0, []string{"pause", "web"}, p.namespace+"/web: spec.paused is set, for rollouts that begin once Fairlead carries out the spec (ClassLimitExceeded)\n")
	p.eventually("the pause to be observed", func() bool { return p.get("web").Status.ObservedGeneration == p.get("web").Generation })
	if condition := meta.FindStatusCondition(p.get("web").Status.Conditions, v1.ConditionPaused); condition != nil {
		t.Errorf("a condition says that rollouts are paused: %+v", condition)
	}
	p.want(1, []string{"status", "web"}, "spec.paused is set, but Fairlead does not carry the spec out, so a rollout that has begun goes on")
}
