// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// What a user meets in the first hour, in the words in which plain kubectl shows it.

// notes are the texts of Events, sorted.
func notes(events []eventsv1.Event) []string {
	var texts []string
	for _, event := range events {
		texts = append(texts, event.Type+": "+event.Note)
	}
	slices.Sort(texts)
	return texts
}

// A Secret that is deleted under a running Application has an Event, and one only.
func TestDeletedSecretHasAnEvent(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.create(db)
	e.apply(using)
	e.waitReady("web")
	remove[corev1.Secret](e, "db")
	e.waitCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
	e.waitEvent("web", v1.ReasonConfigMissing, "Deployment", "web")
	want := []string{"Warning: Secret db does not exist; running pods stay as they are, and new ones wait for it."}
	if got := notes(e.events("web", v1.ReasonConfigMissing)); !slices.Equal(got, want) {
		t.Errorf("Events %q, want %q", got, want)
	}
	e.create(db)
	e.waitReady("web")
}

// An Application over children that another one left behind names each of them.
func TestOrphanedChildrenAreNamed(t *testing.T) {
	t.Parallel()
	e := start(t)
	const manifest = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  replicas: 2
  ports: [{name: http, containerPort: 8080}]
  deletionPolicy: Orphan
`
	e.apply(manifest)
	e.waitReady("web")
	remove[v1.Application](e, "web")
	waitGone[v1.Application](e, "web")
	e.apply(manifest)
	conflicting := e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonConflict)
	const message = "ServiceAccount web and 3 more exist and do not belong to the Application; delete them, or give the Application another name."
	if got := meta.FindStatusCondition(conflicting.Status.Conditions, v1.ConditionReady); got.Message != message {
		t.Errorf("Ready says %q, want %q", got.Message, message)
	}
	if got := meta.FindStatusCondition(conflicting.Status.Conditions, v1.ConditionAvailable); got.Reason != v1.ReasonConflict {
		t.Errorf("Available is %+v beside a foreign Deployment", got)
	}
	var want []string
	for _, child := range []string{"Deployment", "PodDisruptionBudget", "Service", "ServiceAccount"} {
		e.waitEvent("web", v1.ReasonConflict, child, "web")
		want = append(want, "Warning: "+child+" web exists and does not belong to the Application; delete it, or give the Application another name.")
	}
	if got := notes(e.events("web", v1.ReasonConflict)); !slices.Equal(got, want) {
		t.Errorf("Events %q, want %q", got, want)
	}
}
