// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// reasonClaimNotBound is the reason of pods that wait for a volume although the scheduler has found a node.
const reasonClaimNotBound = "ClaimNotBound"

// Claims are the PersistentVolumeClaims of pods that have no node. While the scheduler waits until a volume is provisioned, which it
// does for minutes, the pod has no condition that says so.
func Claims(loaded *cluster.Loaded) []string {
	var names []string
	for _, pod := range loaded.Pods {
		if pod.Spec.NodeName != "" || pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
			continue
		}
		for i := range pod.Spec.Volumes {
			if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil && !slices.Contains(names, claim.ClaimName) {
				names = append(names, claim.ClaimName)
			}
		}
	}
	return names
}

// unboundClaims explains pods that wait for a volume. If the scheduler says so, the problem of the pods does.
func unboundClaims(f facts) []Finding {
	isUnschedulable := func(problem v1.Problem) bool { return problem.Reason == v1.ReasonUnschedulable }
	if f.ready == nil || !f.observed() || f.app.DeletionTimestamp != nil || slices.ContainsFunc(f.app.Status.Problems, isUnschedulable) {
		return nil
	}
	var found []Finding
	for _, claim := range f.UnboundClaims {
		state, created := string(claim.Status.Phase), claim.CreationTimestamp.Time
		switch name := claim.Spec.StorageClassName; {
		case name == nil: // The default applies, if the cluster has one.
		case *name == "":
			state += ", of no StorageClass"
		default:
			state += ", of StorageClass " + *name
		}
		found = append(found, Finding{
			Reason: reasonClaimNotBound,
			What:   fmt.Sprintf("PersistentVolumeClaim %s has no volume, and pods wait for it.", claim.Name),
			Evidence: []Evidence{{
				Object: "PersistentVolumeClaim/" + claim.Name, Field: "status.phase", Message: state, Time: &created,
			}},
			Next: []string{"See why, such as that nothing provisions volumes: kubectl describe persistentvolumeclaims"},
		})
	}
	return found
}

// lacksVolume reports whether no node takes pods because of a PersistentVolumeClaim. Only the message of the scheduler says so: it names
// a claim that does not exist in lower case, and one without a volume by its kind.
func lacksVolume(problem v1.Problem) bool {
	return problem.Reason == v1.ReasonUnschedulable && strings.Contains(strings.ToLower(problem.Message), "persistentvolumeclaim")
}

// noClaim finds the claim that the scheduler does not find.
var noClaim = regexp.MustCompile(`persistentvolumeclaim "([^"]+)" not found`)

// waitsForWriter reports whether the Application is Stalled because another component keeps Fairlead from writing a child, and goes on
// once that one acts.
func (f facts) waitsForWriter(answer Answer) bool {
	return (f.ready.Reason == v1.ReasonApplyFailed || f.ready.Reason == v1.ReasonApplying) && f.waitsFor(answer) != ""
}

// waitsFor says what pods wait for that the controller has no part in; "" if the controller, or Kubernetes', is at work.
func (f facts) waitsFor(answer Answer) string {
	if f.ready.Reason == v1.ReasonRoutesPending {
		return "it waits for the controller that serves its routes, which Fairlead cannot provide"
	}
	if f.ready.Reason == v1.ReasonRollingOut || f.ready.Reason == v1.ReasonPodsUnavailable { // Any other reason has another cause.
		if slices.ContainsFunc(answer.Findings, func(finding Finding) bool { return finding.Reason == reasonClaimNotBound }) {
			return "pods wait for a volume, which Fairlead cannot provide"
		}
		if slices.ContainsFunc(answer.Findings, func(finding Finding) bool { return finding.Reason == reasonNotYetAvailable }) {
			return "pods that are ready do not count as available yet"
		}
	}
	if webhook := apierror.UnansweredWebhook(f.ready.Message); webhook != "" && f.ready.Reason == v1.ReasonApplyFailed {
		return "the controller retries until admission webhook " + webhook + " answers"
	}
	if i := slices.IndexFunc(answer.Findings, func(finding Finding) bool { return finding.heldByFinalizer != "" }); i >= 0 && f.ready.Reason == v1.ReasonApplying {
		return "it waits for a finalizer of " + answer.Findings[i].heldByFinalizer + ", which Fairlead does not remove"
	}
	i := slices.IndexFunc(f.app.Status.Problems, func(problem v1.Problem) bool { return problem.Reason == f.ready.Reason })
	if i < 0 {
		return ""
	}
	switch problem := f.app.Status.Problems[i]; {
	case lacksVolume(problem):
		return "pods wait for a volume, which Fairlead cannot provide"
	case f.ready.Reason == v1.ReasonUnschedulable:
		return "pods wait for a node, which Fairlead cannot provide"
	case f.ready.Reason == v1.ReasonQuotaExceeded:
		return "pods wait for quota, which Fairlead cannot provide"
	case f.ready.Reason == v1.ReasonImagePullFailed:
		return "pods wait for their image, which Fairlead cannot provide"
	default:
		return "it waits for its pods"
	}
}
