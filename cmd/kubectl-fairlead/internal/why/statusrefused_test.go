// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestStatusRefused: what status shows may be old, and the controller, which runs, can say so only in an Event.
func TestStatusRefused(t *testing.T) {
	const (
		said     = "The API server refuses the status of the Application, which shows an earlier state: "
		policy   = "ValidatingAdmissionPolicy 'freeze' with binding 'freeze' denied request: no status today."
		headline = " shows a status that may be out of date: the API server refused a newer one.\n"
		what     = "The API server refused a status of the Application, and none was written since: what the status shows may be out of date."
		evidence = "   - Application/web Event StatusRefused, 59s ago: " + said + policy + "\n"
		next     = "   → Ask the owner of the policy or webhook that the message names to let the controller write applications/status of the group apps.fairlead.dev.\n" +
			"   → The controller tries again until it succeeds.\n"
		unobserved = "The controller has not observed the present spec."
	)
	refused := treetest.Now.Add(-time.Minute)
	for _, test := range []struct {
		name, message string
		// written is when the status was last accepted, after the Event.
		written    time.Duration
		unobserved bool
		want       map[string]bool
	}{
		{"since the last status", policy, -time.Second, false, map[string]bool{headline: true, what: true, evidence: true, next: true}},
		{"the present spec too", policy, -time.Second, true, map[string]bool{headline: true, what: true, next: true, unobserved: false, "doctor": false}},
		{"in the second of a status about an older spec", policy, 0, true, map[string]bool{headline: true, what: true, unobserved: false}},
		{"and accepted since", policy, time.Second, false, map[string]bool{headline: false, what: false, "StatusRefused": false}},
		{"and accepted since, but not for the present spec", policy, time.Second, true, map[string]bool{headline: false, what: false, unobserved: true}},
		{"by a webhook without an answer", `Internal error occurred: failed calling webhook "a.example.com": timeout.`, -time.Second, false, map[string]bool{
			what: true, "→ Ask the team that installed the webhook to repair it, or to remove its configuration: kubectl get": true,
		}},
		{"without the permission", `applications.apps.fairlead.dev "web" is forbidden: User "c" cannot update resource "applications/status" in API group "apps.fairlead.dev".`, -time.Second, false, map[string]bool{
			what: true, "→ Ask the platform team to give the controller the permission that the message names.\n": true,
		}},
		{"by the schema", `Application.apps.fairlead.dev "web" is invalid: status.summary: Too long.`, -time.Second, false, map[string]bool{
			what: true, "→ Ask the platform team to solve what the message names. The CRDs may be of another version than the controller.\n": true,
		}},
	} {
		loaded := clustertest.Load(t, "image")
		application := loaded.Application
		written := metav1.NewTime(refused.Add(test.written))
		application.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "fairlead-controller", Subresource: "status", Time: &written}}
		for i := range application.Status.Conditions {
			application.Status.Conditions[i].LastTransitionTime = metav1.NewTime(refused.Add(-time.Hour))
		}
		if test.unobserved {
			application.Generation++
		}
		loaded.Events = []corev1.Event{{
			InvolvedObject: corev1.ObjectReference{Kind: v1.ApplicationKind, Name: application.Name, UID: application.UID},
			Reason:         v1.EventStatusRefused, Message: said + test.message, EventTime: metav1.NewMicroTime(refused.Add(300 * time.Millisecond)),
		}}
		wantParts(t, test.name, shown(t, loaded), test.want)
	}
}
