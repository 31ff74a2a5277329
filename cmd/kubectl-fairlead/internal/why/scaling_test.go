// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestNamesTheAutoscaler wants the autoscaler that scales the Deployment against spec.replicas by its name.
func TestNamesTheAutoscaler(t *testing.T) {
	const (
		evidence = "   - HorizontalPodAutoscaler/auto spec.scaleTargetRef: Deployment web\n"
		next     = "   → HorizontalPodAutoscaler auto scales this Deployment: remove spec.replicas, or delete the HorizontalPodAutoscaler.\n"
		unseen   = "the other writer can no longer be seen here"
	)
	for _, test := range []struct {
		name, field  string
		want, unseen bool
	}{
		{"the number of pods", ".spec.replicas", true, false},
		{"the number of pods, and another field", ".spec.minReadySeconds, .spec.replicas", true, true},
		{"another field", ".spec.minReadySeconds", false, true},
	} {
		loaded := clustertest.Load(t, "contended")
		loaded.Scalers, loaded.Application.Spec.Replicas = []string{"auto"}, new(int32(2))
		message := "Another writer keeps changing " + test.field + "; repair is backing off."
		for i := range loaded.Application.Status.Resources {
			resource := &loaded.Application.Status.Resources[i]
			resource.State = v1.ResourceSynced
			if resource.Kind == child.Deployment.Kind {
				resource.State, resource.Message = v1.ResourceFailed, message
			}
		}
		loaded.Application.Status.Conditions[0].Message = "Deployment web: " + message
		if got := why.ReplicasContended(loaded.Application); got != test.want {
			t.Errorf("%s: contended is %t", test.name, got)
		}
		var text strings.Builder
		why.Explain(loaded).Print(screen.Fixed(&text, 160, false), treetest.Now)
		if got := strings.Contains(text.String(), evidence) && strings.Contains(text.String(), next); got != test.want {
			t.Errorf("%s: named is %t:\n%s", test.name, got, text.String())
		}
		wantParts(t, test.name, text.String(), map[string]bool{unseen: test.unseen})
	}
}

// TestTwoAutoscalers: metrics are no cause where a second autoscaler scales the Deployment.
func TestTwoAutoscalers(t *testing.T) {
	loaded := clustertest.Load(t, "autoscaler")
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{
		Type: v1.ConditionAutoscalingActive, Status: metav1.ConditionFalse, Reason: "AmbiguousSelector", Message: "pods by selector are controlled by multiple HPAs.",
	})
	const (
		unnamed = "   → Delete the HorizontalPodAutoscaler that is not the Application's: kubectl get horizontalpodautoscalers\n"
		named   = "   → HorizontalPodAutoscaler auto scales this Deployment: delete the HorizontalPodAutoscaler, or remove spec.autoscaling.\n"
		what    = "The autoscaler does not scale, because another one has the same pods.\n"
		metrics = "metrics that it asks for"
	)
	wantParts(t, "not readable", shown(t, loaded), map[string]bool{what: true, unnamed: true, named: false, metrics: false})
	loaded.Scalers = []string{"auto"}
	wantParts(t, "readable", shown(t, loaded), map[string]bool{what: true, unnamed: false, named: true, metrics: false})
}

// TestDisabledAutoscaler wants the command that scales up again, and no advice about metrics, for a Deployment that was scaled to 0.
func TestDisabledAutoscaler(t *testing.T) {
	disabled := metav1.Condition{Type: v1.ConditionAutoscalingActive, Status: metav1.ConditionFalse, Reason: "ScalingDisabled", Message: "scaling is disabled since the replica count of the target is zero"}
	unavailable := metav1.Condition{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonPodsUnavailable, Message: "The Deployment was scaled to 0."}
	for name, conditions := range map[string][]metav1.Condition{
		"the autoscaler says so":            {disabled, unavailable},
		"the autoscaler has not noticed it": {unavailable},
		"an older controller":               {disabled},
	} {
		loaded := clustertest.Load(t, "autoscaler")
		status := &loaded.Application.Status
		status.DesiredReplicas = 0
		for _, condition := range conditions {
			meta.SetStatusCondition(&status.Conditions, condition)
		}
		if slices.Contains(conditions, unavailable) {
			meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonPodsUnavailable})
		}
		for _, object := range loaded.Children {
			if object.GetObjectKind().GroupVersionKind().Kind == child.Deployment.Kind {
				object.SetManagedFields([]metav1.ManagedFieldsEntry{{
					Manager: "fairlead-hand-over", Operation: metav1.ManagedFieldsOperationApply,
					FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
				}, {
					Manager: "kubectl-edit", Operation: metav1.ManagedFieldsOperationUpdate, Time: &metav1.Time{Time: treetest.Now.Add(-time.Minute)},
					FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
				}})
			}
		}
		answer := why.Explain(loaded)
		var text strings.Builder
		answer.Print(screen.Fixed(&text, 160, false), treetest.Now)
		for part, want := range map[string]bool{
			"The Deployment was scaled to 0, where its autoscaler does nothing.\n":                          true,
			"   - Deployment/storefront metadata.managedFields, 60s ago: kubectl-edit set .spec.replicas\n": true,
			"   → Let it scale again: kubectl scale deployment storefront --replicas=3\n":                   true,
			"fairlead-hand-over":      false,
			"kubectl get apiservices": false,
			"(PodsUnavailable), and will not be until someone acts.": slices.Contains(conditions, unavailable),
		} {
			if strings.Contains(text.String(), part) != want {
				t.Errorf("%s: contains %q is not %t:\n%s", name, part, want, text.String())
			}
		}
	}
}

// TestOverClass: a client scaled the Deployment of a spec without a number, and the class limits the spec alone.
func TestOverClass(t *testing.T) {
	const (
		what = "Deployment web has 6 replicas, more than the 4 that ApplicationClass std allows a spec. " +
			"This spec leaves the number to the clients that scale the Deployment, and the class does not limit those.\n"
		evidence = "   - Deployment/web metadata.managedFields, 60s ago: kubectl set .spec.replicas\n"
		next     = "   → To have no more than the class allows, set spec.replicas: kubectl fairlead scale web --replicas=4\n"
	)
	for _, test := range []struct {
		name   string
		change func(*cluster.Loaded, *appsv1.Deployment)
		want   bool
	}{
		{"a user without permission to read autoscalers", func(l *cluster.Loaded, _ *appsv1.Deployment) {
			l.Unreadable = map[string]error{child.HorizontalPodAutoscaler.Resource: errors.New("forbidden")}
		}, true},
		{"an autoscaler", func(l *cluster.Loaded, _ *appsv1.Deployment) { l.Scalers = []string{"auto"} }, true},
		{"nothing shows who scaled", func(_ *cluster.Loaded, d *appsv1.Deployment) { d.ManagedFields[0].Manager = "fairlead-hand-over" }, true},
		{"more than the class allows", func(*cluster.Loaded, *appsv1.Deployment) {}, true},
		{"as many as the class allows", func(_ *cluster.Loaded, d *appsv1.Deployment) { d.Spec.Replicas = new(int32(4)) }, false},
		{"no limit, or one that is not known", func(l *cluster.Loaded, _ *appsv1.Deployment) { l.MaxReplicas = nil }, false},
		{"the number is the controller's", func(l *cluster.Loaded, _ *appsv1.Deployment) { l.Application.Spec.Replicas = new(int32(6)) }, false},
		{"another Application's Deployment", func(_ *cluster.Loaded, d *appsv1.Deployment) { d.OwnerReferences = nil }, false},
	} {
		loaded := clustertest.Load(t, "healthy")
		loaded.Application.Spec.Replicas, loaded.Application.Spec.Autoscaling = nil, nil
		loaded.Application.Status.Class, loaded.MaxReplicas = &v1.AppliedClass{Name: "std"}, new(int32(4))
		deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
		loaded.Application.Name, deployment.Name, deployment.Spec.Replicas = "web", "web", new(int32(6))
		deployment.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale", Time: &metav1.Time{Time: treetest.Now.Add(-time.Minute)},
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
		}})
		test.change(loaded, deployment)
		var text strings.Builder
		why.Explain(loaded).Print(screen.Fixed(&text, 250, false), treetest.Now)
		parts := []string{what, evidence, next}
		if len(deployment.ManagedFields) > 0 && deployment.ManagedFields[0].Manager != "kubectl" {
			parts[1] = "   - Deployment/web spec.replicas: 6\n"
		}
		switch {
		case len(loaded.Scalers) > 0:
			parts[2] = "   - HorizontalPodAutoscaler/auto spec.scaleTargetRef: Deployment web\n" +
				"   → HorizontalPodAutoscaler auto scales this Deployment: lower its maxReplicas, or replace it by spec.autoscaling.\n"
			if strings.Contains(text.String(), "spec.replicas:") {
				t.Errorf("%s: advises to set spec.replicas:\n%s", test.name, text.String())
			}
		case len(loaded.Unreadable) > 0:
			parts[2] = strings.Replace(next, "set spec.replicas:", "set spec.replicas, unless an autoscaler scales the Deployment:", 1)
		}
		for _, part := range parts {
			if strings.Contains(text.String(), part) != test.want {
				t.Errorf("%s: contains %q is not %t:\n%s", test.name, part, test.want, text.String())
			}
		}
	}
}
