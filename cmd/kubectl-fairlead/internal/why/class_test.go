// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestSetByTheClass: the spec does not show what the class sets, so the evidence does, and the advice is to override it.
func TestSetByTheClass(t *testing.T) {
	const selector = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."
	for _, test := range []struct {
		name, reason, message string
		taken                 v1.ApplicationDefaults
		own                   *corev1.ResourceRequirements
		sets, field           string
	}{
		{"a node selector", v1.ReasonUnschedulable, selector, v1.ApplicationDefaults{NodeSelector: map[string]string{"pool": "gold"}}, nil,
			"nodeSelector.pool to gold", "spec.nodeSelector.pool"},
		{"several labels", v1.ReasonUnschedulable, selector, v1.ApplicationDefaults{NodeSelector: map[string]string{"pool": "gold", "example.com/os": "x"}}, nil,
			"nodeSelector[example.com/os] to x and nodeSelector.pool to gold", "spec.nodeSelector[example.com/os] and spec.nodeSelector.pool"},
		{"requests", v1.ReasonUnschedulable, "0/3 nodes are available: 3 Insufficient cpu.",
			v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Requests: amount("cpu", "100")}, NodeSelector: map[string]string{"pool": "gold"}}, nil,
			"resources.requests.cpu to 100", "spec.resources.requests.cpu"},
		{"limits as requests", v1.ReasonUnschedulable, "0/3 nodes are available: 3 Insufficient memory, 1 Too many pods.",
			v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: amount("memory", "1Ti")}}, nil,
			"resources.limits.memory to 1Ti", "spec.resources.limits.memory"},
		{"limits beside own requests", v1.ReasonUnschedulable, "0/3 nodes are available: 3 Insufficient memory.",
			v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: amount("memory", "1Ti")}}, &corev1.ResourceRequirements{Requests: amount("memory", "1Gi")}, "", ""},
		{"another cause", v1.ReasonUnschedulable, selector, v1.ApplicationDefaults{PriorityClassName: "high"}, nil, "", ""},
		{"a spread", v1.ReasonUnschedulable, "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.",
			v1.ApplicationDefaults{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{TopologyKey: "zone"}}}, nil,
			"topologySpreadConstraints to a spread over zone", "spec.topologySpreadConstraints"},
		{"several spreads", v1.ReasonUnschedulable, "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.",
			v1.ApplicationDefaults{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{TopologyKey: "zone"}, {TopologyKey: "host"}, {TopologyKey: "zone"}}}, nil,
			"topologySpreadConstraints to a spread over zone and host", "spec.topologySpreadConstraints"},
		{"a PriorityClass", v1.ReasonReplicaFailure, "no PriorityClass with name high was found", v1.ApplicationDefaults{PriorityClassName: "high"}, nil,
			"priorityClassName to high", "spec.priorityClassName"},
		{"a quota", v1.ReasonQuotaExceeded, "exceeded quota: q, requested: limits.memory=1Gi,requests.cpu=1, used: limits.memory=1Gi,requests.cpu=1, limited: limits.memory=1Gi,requests.cpu=1",
			v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: amount("memory", "1Gi"), Requests: amount("cpu", "1")}}, nil,
			"resources.limits.memory to 1Gi and resources.requests.cpu to 1", "spec.resources.limits.memory and spec.resources.requests.cpu"},
		{"a LimitRange", v1.ReasonPolicyDenied, "maximum memory usage per Container is 1Gi, but limit is 2Gi",
			v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: amount("memory", "2Gi"), Requests: amount("memory", "1Gi")}}, nil,
			"resources.limits.memory to 2Gi", "spec.resources.limits.memory"},
		{"several limits of a LimitRange", v1.ReasonPolicyDenied,
			"[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi, maximum memory usage per Pod is 1Gi, but limit is 2Gi]",
			v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: amount("memory", "2Gi")}}, nil,
			"resources.limits.memory to 2Gi", "spec.resources.limits.memory"},
		{"several ratios", v1.ReasonPolicyDenied,
			"[memory max limit to request ratio per Container is 2, but provided ratio is 8.000000, cpu max limit to request ratio per Container is 2, but provided ratio is 8.000000]",
			v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Requests: amount("cpu", "1m"), Limits: amount("memory", "1Gi")}}, nil,
			"resources.limits.memory to 1Gi and resources.requests.cpu to 1m", "spec.resources.limits.memory and spec.resources.requests.cpu"},
		{"a ratio", v1.ReasonPolicyDenied, "cpu max limit to request ratio per Container is 2, but provided ratio is 8.000000",
			v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Requests: amount("cpu", "1m")}}, nil,
			"resources.requests.cpu to 1m", "spec.resources.requests.cpu"},
		{"the limit of a LimitRange", v1.ReasonReplicaFailure, `Pod "web-1" is invalid: spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi`,
			v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Requests: amount("memory", "2Gi")}}, nil,
			"resources.requests.memory to 2Gi", "spec.resources.requests.memory"},
	} {
		loaded := clustertest.Load(t, "unschedulable")
		application := loaded.Application
		application.Spec.Resources = test.own
		application.Status.Class = &v1.AppliedClass{Name: "platform", Defaults: &test.taken}
		application.Status.Problems = []v1.Problem{{Reason: test.reason, Message: test.message}}
		finding := why.Explain(loaded).Findings[0]
		says, override := "", ""
		if last := finding.Evidence[len(finding.Evidence)-1]; last.Field == "status.class.defaults" {
			says, override = last.Message, finding.Next[0]
		}
		wantSays, wantOverride := "", ""
		if test.sets != "" {
			wantSays = "ApplicationClass platform sets " + test.sets
			values := ""
			if strings.Contains(test.field, "nodeSelector") {
				values = ", to what nodes have: an Application cannot remove a label that its class selects"
			}
			wantOverride = "Override ApplicationClass platform: set " + test.field + " in the Application" + values + ". Or ask the platform team to change the class."
		}
		if says != wantSays || override != wantOverride {
			t.Errorf("%s: %q and %q, want %q and %q", test.name, says, override, wantSays, wantOverride)
		}
	}
}

// TestRollbackOfAClass names the class that asks for the rollback.
func TestRollbackOfAClass(t *testing.T) {
	const (
		own    = "The failed rollout is not rolled back, although spec.rollback asks for it."
		class  = "The failed rollout is not rolled back, although ApplicationClass platform asks for it."
		failed = "The rollout of the spec failed, so the last healthy revision runs instead. Fairlead did not change the spec."
	)
	for _, test := range []struct {
		status  metav1.ConditionStatus
		byClass bool
		want    string
	}{
		{metav1.ConditionFalse, false, own}, {metav1.ConditionFalse, true, class},
		{metav1.ConditionTrue, false, failed}, {metav1.ConditionTrue, true, failed + " ApplicationClass platform asks for the rollback."},
	} {
		loaded := clustertest.Load(t, "image")
		application := loaded.Application
		application.Spec.Rollback = &v1.Rollback{Policy: v1.RollbackOnFailure}
		if test.byClass {
			application.Spec.Rollback = nil
			application.Status.Class = &v1.AppliedClass{Name: "platform", Defaults: &v1.ApplicationDefaults{Rollback: &v1.DefaultRollback{Policy: v1.RollbackOnFailure}}}
		}
		meta.SetStatusCondition(&application.Status.Conditions, metav1.Condition{Type: v1.ConditionRolledBack, Status: test.status, Reason: v1.ReasonNoHealthyRevision})
		if found := why.Explain(loaded).Findings; !slices.ContainsFunc(found, func(finding why.Finding) bool { return finding.What == test.want }) {
			t.Errorf("%+v, want %q", found, test.want)
		}
	}
}

// TestIngressClassOfAClass: the spec does not name it.
func TestIngressClassOfAClass(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	remove(loaded, child.Ingress)
	addForeign(loaded, child.Ingress, &networkingv1.Ingress{}, v1.ResourceSynced, "")
	childOf(t, loaded, child.Ingress.Kind).SetOwnerReferences([]metav1.OwnerReference{
		*metav1.NewControllerRef(loaded.Application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind)),
	})
	loaded.Application.Status.Class = &v1.AppliedClass{Name: "platform", Defaults: &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{IngressClassName: new("nginx")}}}
	const sets = "status.class.defaults: ApplicationClass platform sets routes.ingressClassName to nginx\n"
	wantParts(t, "of the class", shown(t, loaded), map[string]bool{sets: true})
}
