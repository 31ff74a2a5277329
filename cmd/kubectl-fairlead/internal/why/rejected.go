// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/text"
)

// isRejected reports whether the API server refuses to create the pods.
func isRejected(problem v1.Problem) bool {
	return problem.Pods == 0 && slices.Contains([]string{v1.ReasonQuotaExceeded, v1.ReasonPolicyDenied, v1.ReasonReplicaFailure}, problem.Reason)
}

// refused reports whether the Application is not ready since the API server refuses its pods. Kubernetes tries again for good, so what helps
// may have been done already.
func (f facts) refused() bool {
	return slices.ContainsFunc(f.app.Status.Problems, func(problem v1.Problem) bool {
		return problem.Reason == f.ready.Reason && isRejected(problem) && !isOfReplicaSet(problem)
	})
}

// comes is the attribute of the pods where nothing refuses them any more; "" if that is not so.
func comes(answer Answer) string {
	for _, finding := range answer.Findings {
		if finding.comes != "" {
			return finding.comes
		}
	}
	return ""
}

// replicaSet is the ReplicaSet of the present pods; nil if the user may not read it, or it does not exist yet.
func (f facts) replicaSet() *appsv1.ReplicaSet {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil {
		return nil
	}
	for _, replicaSet := range f.ReplicaSets {
		if metav1.IsControlledBy(replicaSet, deployment) && replicaSet.Annotations[child.RevisionAnnotation] == deployment.Annotations[child.RevisionAnnotation] {
			return replicaSet
		}
	}
	return nil
}

// newestRejection returns the newest Event about pods that could not be created, and the problem as the Event has it: the condition of a
// ReplicaSet keeps the first message for as long as all attempts fail.
func (f facts) newestRejection(problem v1.Problem) (v1.Problem, *corev1.Event) {
	replicaSet := f.replicaSet()
	i := slices.IndexFunc(f.EventsOfObjects, func(event corev1.Event) bool {
		return event.InvolvedObject.Kind == "ReplicaSet" && (replicaSet == nil || event.InvolvedObject.UID == replicaSet.UID)
	})
	if i < 0 {
		return problem, nil
	}
	event := &f.EventsOfObjects[i]
	if event.Reason != "FailedCreate" || replicaSet == nil {
		return problem, event
	}
	for _, condition := range replicaSet.Status.Conditions {
		if condition.Type == appsv1.ReplicaSetReplicaFailure && cluster.EventTime(event).Before(condition.LastTransitionTime.Time) {
			return problem, event
		}
	}
	message := strings.TrimPrefix(strings.TrimPrefix(event.Message, "(combined from similar events): "), "Error creating: ")
	if message = health.CreationFailure(message); message != health.CreationFailure(problem.Message) {
		problem.Reason, problem.Message = apierror.ReasonForPods(message), message
	}
	return problem, event
}

// rejection is the problem with its newest message, and the evidence. An older message is left out.
func (f facts) rejection(problem v1.Problem) (newest v1.Problem, evidence []Evidence) {
	newest, event := f.newestRejection(problem)
	if newest == problem {
		evidence = append(evidence, f.problemEvidence(problem))
	}
	if event != nil {
		evidence = append(evidence, eventEvidence(event))
	}
	return newest, evidence
}

// adviceForRejected is what to do about pods that are refused by neither a quota nor a policy.
func (f facts) adviceForRejected(message string, otherwise []string) []string {
	if container, resource, found := f.overLimit(message); found {
		return []string{f.keepLimit(container, resource), retries}
	}
	if match := noPriorityClass.FindStringSubmatch(message); match != nil {
		return []string{fmt.Sprintf("Create PriorityClass %s, or name another one in spec.priorityClassName: kubectl get priorityclasses", match[1]), retries}
	}
	if apierror.UnansweredWebhook(message) != "" {
		return []string{repairWebhook, retries}
	}
	return otherwise
}

// repairWebhook is what to do about an admission webhook that does not answer.
const repairWebhook = "Ask the team that installed the webhook to repair it, or to remove its configuration: " +
	"kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"

var noPriorityClass = regexp.MustCompile(`no PriorityClass with name (\S+) was found`)

// retries says when the pods come once the cause is gone: the ReplicaSet controller waits longer after each attempt.
const retries = "Once the cause is gone, the pods come within 17 minutes: Kubernetes tries again at growing intervals."

// rejectedContainer finds the container in a message about a pod that is invalid.
var rejectedContainer = regexp.MustCompile(`spec\.(containers|initContainers)\[(\d+)\]\.resources\.requests.*? must be less than or equal to (\S+) limit`)

// overLimit finds the container whose request is above its limit, and the resource. The rules of the Application compare its requests with
// its own limits, so the API server saw another limit.
func (f facts) overLimit(message string) (container, resource string, found bool) {
	match := rejectedContainer.FindStringSubmatch(message)
	if match == nil {
		return "", "", false
	}
	index, err := strconv.Atoi(match[2])
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if err != nil || deployment == nil {
		return "", match[3], true
	}
	containers := deployment.Spec.Template.Spec.Containers
	if match[1] == "initContainers" {
		containers = deployment.Spec.Template.Spec.InitContainers
	}
	if index >= len(containers) {
		return "", match[3], true // An admission webhook added it.
	}
	return containers[index].Name, match[3], true
}

// keepLimit is what to do about a request above a limit that the spec does not have.
func (f facts) keepLimit(container, resource string) string {
	if container == "" {
		return "The limit is not in the spec, so a LimitRange set it: lower the requests, or, if it allows larger limits, set the limit of each container: kubectl describe limitranges"
	}
	limit, request := "resources.limits."+resource, "resources.requests."+resource
	if field := f.fieldOf(container); field != "" {
		limit, request = field+"."+limit, field+"."+request
	} else {
		request += " of " + f.notOfSpec(container)
	}
	return fmt.Sprintf("The limit is not in the spec, so a LimitRange set it: lower %s, or, if it allows a larger limit, set %s: kubectl describe limitranges", request, limit)
}

// unspecified are the resources of the containers that the message of a ResourceQuota names, as in "limits.cpu for: a,b; limits.memory for: b".
func (f facts) unspecified(message string) string {
	var fields []string
	for _, match := range namedContainers.FindAllStringSubmatch(message, -1) {
		for container := range strings.SplitSeq(match[1], ",") {
			if field := f.fieldsOf(container, "resources"); !slices.Contains(fields, field) {
				fields = append(fields, field)
			}
		}
	}
	if len(fields) == 0 {
		return "spec.resources"
	}
	return text.Enumerate(fields)
}

var namedContainers = regexp.MustCompile(` for: ([a-z0-9,-]+)`)
