// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"strings"
	"time"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// finding is one fault of one pod.
type finding struct {
	reason    string
	container string
	// message may contain sinceWhen, which stands for since, and whichPod, which stands for pod.
	message string
	pod     string
	since   time.Time
	// due is when the finding begins to count; zero means always.
	due time.Time
}

// sinceWhen is the placeholder for the time in the message of a finding, until findings are grouped.
const sinceWhen = "{since}"

// whichPod is the placeholder for the pod that has been in the state for the longest time.
const whichPod = "{pod}"

// mountGrace is how long volumes and network of a pod may take before the status mentions it.
const mountGrace = time.Minute

// The kubelet's reasons for which a container waits, and those for which it fails a pod.
const (
	createContainerConfigError = "CreateContainerConfigError"
	errImagePull               = "ErrImagePull"
	imagePullBackOff           = "ImagePullBackOff"
	errImageNeverPull          = "ErrImageNeverPull"
	imageInspectError          = "ImageInspectError"
	invalidImageName           = "InvalidImageName"
	registryUnavailable        = "RegistryUnavailable"
	signatureValidationFailed  = "SignatureValidationFailed"
	evicted                    = "Evicted"
	preempting                 = "Preempting"
	nodeShutdown               = "NodeShutdown"
	terminated                 = "Terminated"
)

// diagnosePod returns the findings of a pod, with its name.
func diagnosePod(pod *child.Pod) []finding {
	found := diagnose(pod.Problems)
	for i := range found {
		found[i].pod = pod.Name
	}
	return found
}

// diagnose returns the findings of a pod.
func diagnose(t *child.PodProblems) []finding {
	if t.Failed != nil {
		return []finding{lost(t.Failed)}
	}
	var found []finding
	if t.Unscheduled != nil {
		found = append(found, finding{reason: v1.ReasonUnschedulable, message: unrepeated(messageOrReason(*t.Unscheduled))})
	}
	for _, c := range t.Containers {
		switch {
		case c.Waiting != nil:
			found = append(found, finding{reason: reasonForWaiting(c.Waiting.Reason), container: c.Name, message: messageOrReason(*c.Waiting)})
		case c.Termination != nil:
			found = append(found, ended(c))
		case c.Unready != nil:
			found = append(found, finding{
				reason: v1.ReasonReadinessFailing, container: c.Name, message: unreadyMessage(c.Unready),
				since: c.Unready.Since.Time, due: c.Unready.Due.Time,
			})
		}
	}
	if t.Gate != nil {
		found = append(found, finding{
			reason: v1.ReasonReadinessFailing, message: "A readiness gate has been closed since " + sinceWhen + ": " + t.Gate.Message,
			since: t.Gate.Since.Time, due: t.Gate.Due.Time,
		})
	}
	if t.NodeUnreachable != nil {
		found = append(found, finding{
			reason: v1.ReasonNodeLost, message: "The pod's node has been unreachable since " + sinceWhen + ".",
			since: t.NodeUnreachable.Time,
		})
	}
	// A finding of a container explains more than that the pod does not start.
	if t.NotReadyToStart != nil && len(found) == 0 {
		found = append(found, finding{
			reason: v1.ReasonVolumeNotMounting,
			message: "Scheduled, but since " + sinceWhen + " its volumes are not mounted or its network is not ready; " +
				"see the Events of the pod. A ConfigMap, Secret or claim that it mounts may be missing.",
			since: t.NotReadyToStart.Time, due: t.NotReadyToStart.Add(mountGrace),
		})
	}
	return found
}

// unreadyMessage says since when a container has been running without being ready, and which probe fails.
func unreadyMessage(unready *child.Unready) string {
	if unready.Probe == "" {
		return "Pod " + whichPod + " is running, but not ready since " + sinceWhen + "."
	}
	return "Readiness probe " + unready.Probe + " has failed since " + sinceWhen + " in pod " + whichPod + "."
}

// lost returns the finding of a pod that failed.
func lost(why *child.ReasonMessage) finding {
	switch why.Reason {
	case evicted, preempting, nodeShutdown, terminated:
		return finding{reason: v1.ReasonEvicted, message: messageOrReason(*why)}
	default:
		return finding{reason: v1.ReasonPodRejected, message: messageOrReason(*why)}
	}
}

func reasonForWaiting(reason string) string {
	switch reason {
	case createContainerConfigError:
		return v1.ReasonConfigError
	case errImagePull, imagePullBackOff, errImageNeverPull, imageInspectError, invalidImageName, registryUnavailable, signatureValidationFailed:
		return v1.ReasonImagePullFailed
	default:
		return v1.ReasonStartFailed
	}
}

// ended returns the finding of a container that keeps exiting.
func ended(c child.Container) finding {
	f := finding{reason: v1.ReasonCrashLooping, container: c.Name, message: ending(c.Termination)}
	switch {
	case c.Termination.FailedToStart():
		f.reason, f.message = v1.ReasonStartFailed, messageOrReason(child.ReasonMessage{Reason: c.Termination.Reason, Message: c.Termination.Message})
	case c.Init:
		f.reason = v1.ReasonInitFailed
	}
	if c.Termination.Restarts > 0 {
		f.message += fmt.Sprintf(" Restarted at least %d times.", c.Termination.Restarts)
	}
	return f
}

func ending(end *child.Termination) string {
	switch {
	case end.Reason == "":
		return "The container keeps exiting."
	case end.Reason == "OOMKilled":
		return fmt.Sprintf("Out of memory (%s, exit code %d).", end.Reason, end.ExitCode)
	case end.ExitCode == 0:
		return fmt.Sprintf("Exited with code 0 (%s), but must keep running.", end.Reason)
	default:
		return fmt.Sprintf("Exited with code %d (%s).", end.ExitCode, end.Reason)
	}
}

// messageOrReason returns the message of another component, or its reason if there is no message.
func messageOrReason(w child.ReasonMessage) string {
	if w.Message == "" {
		return w.Reason
	}
	return w.Message
}

// unrepeated is a message of the scheduler, which says twice that a claim is not found.
func unrepeated(message string) string {
	if strings.HasSuffix(message, "not found. not found") {
		return strings.TrimSuffix(message, " not found")
	}
	return message
}
