// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
)

// advice is what to say of a problem of pods.
type advice struct {
	what string
	next []string
}

const setImage = "Set another image: kubectl fairlead set image APP IMAGE"

// podAdvice has all reasons of status.problems. APP, CONTAINER and POD stand for names, LOGS for a command without the container.
var podAdvice = map[string]advice{
	v1.ReasonConfigError:       {"A container refers to a ConfigMap, Secret or key that does not exist.", []string{"Create it, or correct the reference in the spec."}},
	v1.ReasonImagePullFailed:   {"The image of container CONTAINER cannot be pulled.", []string{"Check name, tag and registry of the image, and that spec.imagePullSecrets names a Secret with valid credentials.", setImage}},
	v1.ReasonInitFailed:        {"Init container CONTAINER keeps failing, so the pods do not start.", []string{"Read what it said: LOGS -c CONTAINER"}},
	v1.ReasonStartFailed:       {"Container CONTAINER cannot be started.", []string{"Check FIELDS(command,args,workingDir) against what the image has."}},
	v1.ReasonCrashLooping:      {"Container CONTAINER keeps exiting.", []string{"Read what it said before it ended: LOGS -c CONTAINER --previous"}},
	v1.ReasonPolicyDenied:      {"An admission policy or webhook of this cluster refuses the pods.", []string{"Change the Application so that the policy is met, or ask the owner of the policy that the message names.", retries}},
	v1.ReasonQuotaExceeded:     {"A ResourceQuota of this namespace allows no more pods.", []string{"Free some of the quota, ask for fewer pods, lower what spec.resources asks for, or ask for more quota: kubectl describe resourcequotas"}},
	v1.ReasonReplicaFailure:    {"Kubernetes cannot create the pods.", []string{"Correct what the message names, in the spec or in the cluster.", retries}},
	v1.ReasonUnschedulable:     {"No node takes the pods.", []string{"Compare resources, nodeSelector, affinity and tolerations of the spec with the nodes: kubectl describe nodes", "If it is the size: lower what spec.resources asks for, or wait for a node."}},
	v1.ReasonVolumeNotMounting: {"The pods have a node, but no volumes or no network.", []string{"The Events of the pod say which: kubectl events --for pod/POD"}},
	v1.ReasonNodeLost:          {"The node of some pods is unreachable.", nil},
	v1.ReasonReadinessFailing:  {"Container CONTAINER runs, but is not ready for longer than its probe allows.", []string{"Check that FIELDS(readinessProbe) fits the container: path, port and time to start.", "Read what it says: LOGS -c CONTAINER"}},
	v1.ReasonPodRejected:       {"A node has rejected a pod; Kubernetes creates another one.", nil},
	v1.ReasonEvicted:           {"A node has evicted a pod; Kubernetes creates another one.", []string{"If it happens again, raise spec.resources.requests to what the application uses: kubectl fairlead top APP"}},
}

// pods explains why pods of the current revision do not serve.
func pods(f facts) []Finding {
	var (
		found []Finding
		first v1.Problem
	)
	for _, problem := range f.app.Status.Problems {
		if !f.observed() {
			return nil
		}
		if problem.Reason == v1.ReasonProgressDeadlineExceeded {
			continue // The other problems are why; if there are none, see below.
		}
		if found = append(found, f.podFinding(problem)); len(found) == 1 {
			first = problem
		}
	}
	if len(found) == 0 && f.ready != nil && f.ready.Reason == v1.ReasonProgressDeadlineExceeded {
		found = append(found, Finding{
			Reason: f.ready.Reason, What: "The rollout makes no progress, and no pod says why.",
			Evidence: []Evidence{f.conditionEvidence(f.ready)}, Next: []string{"Look at the pods: kubectl fairlead tree " + f.app.Name},
		})
	}
	if len(found) > 0 {
		if isRejected(first) && !isOfReplicaSet(first) {
			first, _ = f.newestRejection(first)
		}
		first.Reason = found[0].Reason
		if edit.RunsPinned(f.Objects) {
			found[0].Next = append(found[0].Next, "A change of the pods takes effect only once you remove spec.rollback.toRevision: "+edit.Unpin(f.app.Name))
		}
		found[0].Next = append(found[0].Next, f.wayBack(first)...)
		if f.app.Spec.ReconcilePolicy == v1.ReconcileObserve {
			found[0].Next = append(found[0].Next, f.endObservation())
		}
	}
	return found
}

func (f facts) podFinding(problem v1.Problem) Finding {
	var evidence []Evidence
	pod := ""
	switch {
	case isOfReplicaSet(problem):
		evidence = []Evidence{f.problemEvidence(problem)}
	case isRejected(problem):
		problem, evidence = f.rejection(problem)
	default:
		evidence, pod = f.podEvidence(problem)
	}
	known := f.ofReplicaSet(problem, f.aboutNodes(problem, f.adviceFor(problem)))
	names := strings.NewReplacer("APP", f.app.Name, "CONTAINER", problem.Container, "POD", pod, "LOGS", f.logsOf(pod))
	finding := Finding{Reason: problem.Reason, What: names.Replace(known.what) + f.extent(problem), Evidence: evidence}
	if problem.Reason == v1.ReasonImagePullFailed {
		f.addMissingPullSecrets(&finding)
	}
	for _, next := range known.next {
		if next == setImage && edit.RunsPinned(f.Objects) {
			continue // The image of the spec is not what runs.
		}
		finding.Next = append(finding.Next, f.withFields(names.Replace(next), problem.Container))
	}
	f.addFailedProbe(&finding, problem, pod)
	if f.addQuotaRoom(&finding, problem) || f.addLimitRangeRoom(&finding, problem) {
		return finding
	}
	f.addRetry(&finding)
	f.addClassSettings(&finding, problem)
	return finding
}

// endObservation is the step after the spec is correct. It leaves rollouts paused, which resume would not.
func (f facts) endObservation() string {
	return "A change takes effect only once reconcilePolicy is no longer Observe: " + f.enforceCommand()
}

// enforceCommand is the command that ends the observation, and nothing else.
func (f facts) enforceCommand() string {
	return fmt.Sprintf(`kubectl patch applications.apps.fairlead.dev %s --type=merge --patch '{"spec":{"reconcilePolicy":"Enforce"}}'`, f.app.Name)
}

// extent says which pods have the problem, and whether others serve meanwhile.
func (f facts) extent(problem v1.Problem) string {
	former, kind, all := f.former(), "pod", f.app.Status.DesiredReplicas
	if former.serving+former.lacking > 0 || f.app.Status.UpdatedReplicas > 0 && f.app.Status.Replicas > f.app.Status.UpdatedReplicas {
		kind, all = "new pod", f.app.Status.UpdatedReplicas // A rollout does not start all of them at once.
	}
	text := ""
	if problem.Reason == v1.ReasonNodeLost {
		text = f.extentOfLost()
	}
	switch all = max(problem.Pods, all); {
	case text != "":
	case problem.Pods == 0:
	case all == 1:
		text = fmt.Sprintf(" This concerns its only %s.", kind)
	default:
		text = fmt.Sprintf(" This concerns %d of %d %ss.", problem.Pods, all, kind)
	}
	return text + former.text(f.app.Status.Revision)
}

// adviceFor looks at the message too: some reasons have several causes.
func (f facts) adviceFor(problem v1.Problem) advice {
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(words string) bool { return strings.Contains(problem.Message, words) })
	}
	if used, is := f.usedElsewhere(problem); is {
		return used
	}
	known, ok := podAdvice[problem.Reason]
	switch {
	case !ok:
		return advice{what: "Pods do not serve."}
	case problem.Reason == v1.ReasonConfigError && says("runAsNonRoot", "non-root"):
		return advice{"Container CONTAINER may not run as root, and its image has no other user, or one without a number.", []string{
			`Set the number of a user that the program works with, such as 65532: kubectl patch applications.apps.fairlead.dev APP --type=merge --patch '{"spec":{"podSecurityContext":{"runAsUser":65532}}}'`,
			"Or give the image one: USER 65532 in its Dockerfile.",
		}}
	case problem.Reason == v1.ReasonCrashLooping && says("OOMKilled"):
		return advice{"Container CONTAINER keeps running out of memory.", slices.Concat([]string{
			"Raise FIELDS(resources.limits.memory), or let the application use less: kubectl fairlead top APP",
		}, known.next)}
	case problem.Reason == v1.ReasonConfigError && says("find key"):
		known.next = []string{"Add the key to the object that the message names, or correct the reference in the spec."}
	case problem.Reason == v1.ReasonConfigError && !says("not found", "couldn't find", "could not find"):
		return advice{"The node cannot make what container CONTAINER needs to start.", []string{"Correct in the spec what the message names."}}
	case problem.Reason == v1.ReasonUnschedulable && says("unbound immediate PersistentVolumeClaims", "unbound PersistentVolumeClaim"):
		return advice{"A PersistentVolumeClaim of the pods has no volume, so no node takes them.", []string{
			"See why it is not bound, such as a storage class that does not exist, or that nothing provisions: kubectl describe persistentvolumeclaims",
			"Correct the claim, which may need a new one: kubectl get storageclasses",
		}}
	case noClaim.MatchString(problem.Message):
		claim := noClaim.FindStringSubmatch(problem.Message)[1]
		return advice{"PersistentVolumeClaim " + claim + " does not exist, so no node takes the pods.", []string{
			fmt.Sprintf("Create PersistentVolumeClaim %s, or correct its name in spec.mounts: kubectl get persistentvolumeclaims", claim),
		}}
	case lacksVolume(problem):
		known.next = []string{"Create the PersistentVolumeClaim that spec.mounts names, or correct its name: kubectl get persistentvolumeclaims"}
	case problem.Reason == v1.ReasonPolicyDenied && saysLimitRange(problem.Message):
		return advice{"A LimitRange of this namespace refuses the pods.", []string{f.keepRange(problem.Message), retries}}
	case problem.Reason == v1.ReasonEvicted:
		known.next = f.adviceForEvicted(problem.Message, known.next)
	case problem.Reason == v1.ReasonReplicaFailure:
		known.next = f.adviceForRejected(problem.Message, known.next)
	case problem.Reason == v1.ReasonQuotaExceeded && says("must specify"):
		return advice{"A ResourceQuota of this namespace refuses pods that do not say what they need.", []string{"Set what the message asks for in " + f.unspecified(problem.Message) + ".", retries}}
	case problem.Reason == v1.ReasonQuotaExceeded:
		known = f.adviceForQuota(problem.Message, known)
	case problem.Reason == v1.ReasonUnschedulable && says("anti-affinity rules", "free ports for the requested pod ports") && !says("Insufficient"):
		known.next = append(known.next[:1:1], f.stopFirst()...)
	case problem.Reason == v1.ReasonUnschedulable && says("node affinity/selector", "untolerated taint", "affinity rules", "topology spread") && !says("Insufficient"):
		known.next = known.next[:1] // It is not the size.
	}
	if problem.Reason == v1.ReasonUnschedulable && says("topology spread constraints") {
		known.next = adviceForSpread(problem.Message, known.next)
	}
	return known
}

// podEvidence is what one pod with the problem says, and the newest Warning about an object of the Application that fits;
// status alone if no pod can be read.
func (f facts) podEvidence(problem v1.Problem) (evidence []Evidence, pod string) {
	objects, snapshot := f.Objects, f.Snapshot()
	evidence = []Evidence{f.problemEvidence(problem)}
	var failing, other, former []int // Pods of the failing revision come first.
	for i, live := range objects.Pods {
		switch {
		case f.ofFormer(live):
			former = append(former, i)
		case hasProblem(snapshot.Pods[i].Problems, problem):
			failing = append(failing, i)
		default:
			other = append(other, i)
		}
	}
	for _, i := range slices.Concat(failing, other, former) {
		trimmed, live := snapshot.Pods[i], objects.Pods[i]
		if trimmed.Problems == nil || tree.PodReady(live) {
			continue
		}
		for _, status := range slices.Concat(live.Status.InitContainerStatuses, live.Status.ContainerStatuses) {
			if status.Name == problem.Container {
				evidence = append(evidence, containerEvidence(live, &status))
				return evidence, live.Name
			}
		}
		if problem.Container == "" {
			pod = live.Name
			break
		}
	}
	for i := range f.EventsOfObjects {
		if event := &f.EventsOfObjects[i]; pod != "" && event.InvolvedObject.Name == pod {
			evidence = append(evidence, eventEvidence(event))
			break
		}
	}
	return evidence, pod
}

// hasProblem reports whether the container of the problem is one that fails in a pod. One that keeps exiting has exited before: a pod that
// has just started has no earlier log.
func hasProblem(of *child.PodProblems, problem v1.Problem) bool {
	return of != nil && slices.ContainsFunc(of.Containers, func(container child.Container) bool {
		return container.Name == problem.Container && (problem.Reason != v1.ReasonCrashLooping || container.Termination != nil)
	})
}

// logsOf is the command that reads the log of a container of the pod. All pods are no substitute where one is known: old pods of a rollout
// may lack the container, and have not exited.
func (f facts) logsOf(pod string) string {
	if pod == "" {
		return "kubectl fairlead logs " + f.app.Name + " --tail=50" // Otherwise 10 lines, which a trace may exceed.
	}
	return "kubectl logs " + pod
}

func (f facts) problemEvidence(problem v1.Problem) Evidence {
	return Evidence{Object: v1.ApplicationKind + "/" + f.app.Name, Field: "status.problems[" + problem.Reason + "]", Message: problem.Message}
}

func eventEvidence(event *corev1.Event) Evidence {
	when := cluster.EventTime(event)
	return Evidence{Object: event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name, Field: "Event " + event.Reason, Message: event.Message, Time: &when}
}

// containerEvidence is the state of a container. A termination message of the container itself is not shown: it may be
// a secret.
func containerEvidence(pod *corev1.Pod, status *corev1.ContainerStatus) Evidence {
	evidence := Evidence{Object: "Pod/" + pod.Name, Field: "status.containerStatuses[" + status.Name + "].state"}
	last := status.LastTerminationState.Terminated
	switch waiting, ended, running := status.State.Waiting, status.State.Terminated, status.State.Running; {
	case waiting != nil && last != nil:
		evidence.Message = fmt.Sprintf("%s; exited with code %d (%s), restarted %s", waiting.Reason, last.ExitCode, last.Reason, times(status.RestartCount))
		evidence.Time = &last.FinishedAt.Time
	case waiting != nil:
		evidence.Message = waiting.Reason
	case ended != nil:
		evidence.Message = fmt.Sprintf("exited with code %d (%s)", ended.ExitCode, ended.Reason)
		evidence.Time = &ended.FinishedAt.Time
	case running != nil:
		evidence.Message, evidence.Time = "running, not ready", &running.StartedAt.Time
	}
	return evidence
}

func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
