// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// expectLines compares output with golden text, in which the first line is empty and the others are indented with tabs,
// for the sake of readability.
func expectLines(t *testing.T, got, golden string) {
	t.Helper()
	golden = strings.ReplaceAll(strings.TrimPrefix(golden, "\n"), "\t", "")
	if diff := cmp.Diff(golden, got); diff != "" {
		t.Errorf("printed otherwise than expected (-want +got):\n%s", diff)
	}
}

// application makes an Application whose status is about its current spec.
func application(name string, modify ...func(*v1.Application)) *v1.Application {
	app := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}, Status: v1.ApplicationStatus{ObservedGeneration: 1}}
	for _, m := range modify {
		m(app)
	}
	return app
}

func withCondition(kind string, status metav1.ConditionStatus, reason, message string) func(*v1.Application) {
	return func(app *v1.Application) {
		app.Status.Conditions = append(app.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: app.Generation,
		})
	}
}

func withChild(kind, name string, state v1.ResourceState, message string) func(*v1.Application) {
	return func(app *v1.Application) {
		app.Status.Resources = append(app.Status.Resources, v1.ResourceStatus{Kind: kind, Name: name, State: state, Message: message})
	}
}

func withPods(available, desired int32) func(*v1.Application) {
	return func(app *v1.Application) {
		app.Status.AvailableReplicas, app.Status.DesiredReplicas = available, desired
	}
}

func withURL(url string) func(*v1.Application) {
	return func(app *v1.Application) { app.Status.URLs = append(app.Status.URLs, url) }
}

// readyApplication is one that works.
func readyApplication(name string) *v1.Application {
	return application(name,
		withCondition(v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady, "All 2 pods are available at revision 1."),
		withCondition(v1.ConditionAvailable, metav1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability."),
		withCondition(v1.ConditionAutoscalingActive, metav1.ConditionFalse, "FailedGetResourceMetric", "no metrics"),
		withChild("Deployment", name, v1.ResourceSynced, ""),
		withChild("Service", name, v1.ResourceSynced, ""),
		withPods(2, 2),
		withURL("https://"+name+".example.com/"))
}

// startingApplication is one whose pods are on their way.
func startingApplication(name string) *v1.Application {
	return application(name,
		withCondition(v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRollingOut, "1 of 3 pods are updated, 0 available."),
		withCondition(v1.ConditionReconciling, metav1.ConditionTrue, v1.ReasonRollingOut, "1 of 3 pods are updated, 0 available."),
		withCondition(v1.ConditionAvailable, metav1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
		withChild("Deployment", name, v1.ResourceSynced, ""),
		withChild("Service", name, v1.ResourcePending, "Another client is deleting it."),
		withPods(0, 3))
}

// conflictingApplication is one that waits for a person.
func conflictingApplication(name string) *v1.Application {
	return application(name,
		withCondition(v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConflict, "Service "+name+" exists and does not belong to the Application."),
		withCondition(v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonConflict, "Service "+name+" exists and does not belong to the Application."),
		withChild("Deployment", name, v1.ResourceSynced, ""),
		withChild("Service", name, v1.ResourceConflict, "Service "+name+" exists and does not belong to the Application."),
		withPods(1, 1))
}
