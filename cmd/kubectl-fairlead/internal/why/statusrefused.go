// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// statusRefused explains that the API server refused a status which is newer than the one that all other findings are read from.
func statusRefused(f facts) []Finding {
	event := f.statusRefusal()
	if event == nil {
		return nil
	}
	_, answer, _ := strings.Cut(event.Message, ": ") // The controller says before it what was refused.
	next := "Ask the platform team to solve what the message names."
	switch reason := apierror.ReasonForMessage(answer); {
	case apierror.UnansweredWebhook(answer) != "":
		next = repairWebhook
	case reason == v1.ReasonPolicyDenied:
		next = "Ask the owner of the policy or webhook that the message names to let the controller write applications/status of the group " + v1.SchemeGroupVersion.Group + "."
	case reason == v1.ReasonPermissionDenied:
		next = "Ask the platform team to give the controller the permission that the message names."
	case strings.Contains(answer, " is invalid: status"), strings.Contains(answer, " is invalid: [status"):
		next = "Ask the platform team to solve what the message names. The CRDs may be of another version than the controller."
	}
	return []Finding{{
		Reason:   v1.EventStatusRefused,
		What:     "The API server refused a status of the Application, and none was written since: what the status shows may be out of date. The children do not depend on it.",
		Evidence: []Evidence{eventEvidence(event)},
		Next:     []string{next, "The controller tries again until it succeeds."},
	}}
}

// statusRefusal is the newest Event about a status that the API server refused; nil if a status was written since.
func (f facts) statusRefusal() *corev1.Event {
	i := slices.IndexFunc(f.Events, func(event corev1.Event) bool { return event.Reason == v1.EventStatusRefused })
	if i < 0 {
		return nil
	}
	refused, written := cluster.EventTime(&f.Events[i]).Truncate(time.Second), f.statusWritten()
	if refused.Before(written) || refused.Equal(written) && f.observed() {
		return nil
	}
	return &f.Events[i]
}

// statusWritten is when the status was last written, to the second.
func (f facts) statusWritten() time.Time {
	var last time.Time
	for _, entry := range f.app.ManagedFields {
		if entry.Subresource == "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	for i := range f.app.Status.Conditions {
		if since := f.app.Status.Conditions[i].LastTransitionTime.Time; since.After(last) {
			last = since
		}
	}
	return last.Truncate(time.Second)
}
