// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
	"fairlead.dev/fairlead/pkg/tree"
)

// afterSuspension are the steps that end the suspension. A user may have paused rollouts before, and resume would end that pause too: it
// would replace the pods of a rollout that waits, and of an adoption without the checks of their release.
func (f facts) afterSuspension() []string {
	resume := "kubectl fairlead resume " + f.app.Name
	see := "See what the %s would do to the pods: " + resume + " --dry-run=client"
	switch {
	case !f.asksForPause():
		return []string{fmt.Sprintf(see, "end of the suspension"), "Go on: " + resume}
	case edit.HoldsPods(f.app):
		return append(f.releaseEnforced(), f.takeAdoptionBack())
	case f.app.Spec.AdoptionPolicy == v1.AdoptionConsented && f.lacksDeployment():
		return []string{f.enforcePaused()} // The adoption needs the pause.
	default:
		return []string{f.enforcePaused(), fmt.Sprintf(see, "end of the pause"), "Let rollouts go on: " + resume}
	}
}

// failingWhileSuspended finds pods that fail, one finding for each reason, as the live objects show them: nothing writes status.problems
// while the Application is suspended. No advice is about the spec, because nothing carries it out.
func failingWhileSuspended(f facts) []Finding {
	var (
		reasons []string
		failing = map[string][]*tree.Node{}
		all     int
	)
	for _, node := range tree.Build(f.Objects).All() {
		pod := f.podNamed(node)
		if pod == nil || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
			continue // Kubernetes replaces one that has ended.
		}
		all++
		if node.Health != tree.Degraded {
			continue
		}
		if failing[node.Reason] == nil {
			reasons = append(reasons, node.Reason)
		}
		failing[node.Reason] = append(failing[node.Reason], node)
	}
	var found []Finding
	for _, reason := range reasons {
		first, extent := failing[reason][0], fmt.Sprintf("%d of %d pods do not serve: %s.", len(failing[reason]), all, reason)
		if all == 1 {
			extent = fmt.Sprintf("The only pod does not serve: %s.", reason)
		} else if len(failing[reason]) == 1 {
			extent = fmt.Sprintf("1 of %d pods does not serve: %s.", all, reason)
		}
		finding := Finding{
			Reason: reason, What: extent,
			Evidence: []Evidence{{Object: first.Ref(), Field: "status", Message: first.Message}},
		}
		if container := crashing(f.podNamed(first)); container != "" {
			finding.Next = append(finding.Next, fmt.Sprintf("Read what it said before it ended: %s -c %s --previous", f.logsOf(first.Name), container))
		}
		finding.Next = append(finding.Next,
			"If the Deployment is wrong, correct it by hand: kubectl edit deployment "+f.app.Name,
			"Or see what the spec would do to the pods: kubectl fairlead resume "+f.app.Name+" --dry-run=client",
		)
		found = append(found, finding)
	}
	return found
}

// podNamed returns the pod of the node; nil if it is another object.
func (f facts) podNamed(node *tree.Node) *corev1.Pod {
	if i := slices.IndexFunc(f.Pods, func(pod *corev1.Pod) bool { return node.Kind == "Pod" && pod.Name == node.Name }); i >= 0 {
		return f.Pods[i]
	}
	return nil
}

// crashing names the first container that keeps exiting; "" if none does.
func crashing(pod *corev1.Pod) string {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := status.State.Waiting; waiting != nil && waiting.Reason == "CrashLoopBackOff" {
			return status.Name
		}
	}
	return ""
}

// missingWhileSuspended names the children of before that do not exist. The finding about the suspension has the Deployment.
func missingWhileSuspended(f facts) []Finding {
	var (
		names    []string
		evidence []Evidence
	)
	for _, node := range tree.Build(f.Objects).Children {
		kind, known := child.KindNamed(node.Kind)
		if node.Health != tree.Missing || !known || kind == child.Deployment || f.Unreadable[kind.Resource] != nil {
			continue
		}
		names = append(names, node.Kind+" "+node.Name)
		evidence = append(evidence, Evidence{
			Object: v1.ApplicationKind + "/" + f.app.Name, Field: fmt.Sprintf("status.resources[%s/%s]", node.Kind, node.Name), Message: node.Message,
		})
	}
	if len(names) == 0 {
		return nil
	}
	do, it := "does", "it"
	if len(names) > 1 {
		do, it = "do", "them"
	}
	end := "resume, which creates what the spec asks for: kubectl fairlead resume " + f.app.Name
	if f.asksForPause() {
		end = "end the suspension, after which Fairlead creates what the spec asks for: " + f.enforceCommand() // Resume would end the pause too.
	}
	return []Finding{{
		Reason:   "NotFound",
		What:     fmt.Sprintf("%s %s not exist any more, and Fairlead does not create %s before the suspension ends.", text.Enumerate(names), do, it),
		Evidence: evidence,
		Next:     []string{fmt.Sprintf("Create %s again by hand, or %s", it, end)},
	}}
}
