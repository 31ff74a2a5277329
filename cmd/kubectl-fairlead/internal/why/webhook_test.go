// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// unanswered is the error of the API server about a webhook of another component.
const unanswered = `Internal error occurred: failed calling webhook "names.example.com": failed to call webhook: Post "https://names.default.svc:443/?timeout=5s": service "names" not found`

// TestUnansweredWebhook names the webhook that cannot be asked about a child, and what to do: also once the status says Stalled.
func TestUnansweredWebhook(t *testing.T) {
	for _, stalled := range []bool{false, true} {
		loaded := clustertest.Load(t, "healthy")
		status := &loaded.Application.Status
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonApplyFailed, Message: "Deployment cart: " + unanswered + ".",
		})
		if stalled {
			meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonApplyFailed})
		}
		for i := range status.Resources {
			if resource := &status.Resources[i]; resource.Kind == child.Deployment.Kind {
				resource.State, resource.Message = v1.ResourceFailed, unanswered+"."
			}
		}
		wantParts(t, fmt.Sprintf("a child, stalled %t", stalled), shown(t, loaded), map[string]bool{
			"default/cart is not ready (ApplyFailed): the controller retries until admission webhook names.example.com answers.\n":                                                   true,
			"Deployment cart could not be written, because admission webhook names.example.com gives the API server no answer; the controller retries.\n":                            true,
			"   → Ask the team that installed the webhook to repair it, or to remove its configuration: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations\n": true,
		})
	}
}

// TestUnansweredWebhookOfPods does the same for pods, which Kubernetes creates.
func TestUnansweredWebhookOfPods(t *testing.T) {
	loaded := clustertest.Load(t, "quota")
	loaded.EventsOfObjects = nil
	loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonReplicaFailure, Message: unanswered}}
	wantParts(t, "pods", shown(t, loaded), map[string]bool{
		"Kubernetes cannot create the pods.": true, "Correct what the message names": false,
		"   → Ask the team that installed the webhook to repair it, or to remove its configuration: kubectl get": true,
		"   → Once the cause is gone, the pods come within 17 minutes":                                           true,
	})
}
