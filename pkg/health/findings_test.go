// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// waiting is a pod whose container waits for the reason.
func waiting(reason, message string) child.PodProblems {
	return child.PodProblems{Containers: []child.Container{{Name: "web", Waiting: &child.ReasonMessage{Reason: reason, Message: message}}}}
}

// exiting is a pod whose container exited so.
func exiting(isInit bool, termination child.Termination) child.PodProblems {
	return child.PodProblems{Containers: []child.Container{{Name: "web", Init: isInit, Termination: &termination}}}
}

// The worst problem of a pod that has a single one is what its state means. Each row is one state.
func TestWorstOfPod(t *testing.T) {
	tests := []struct {
		name   string
		pod    child.PodProblems
		reason string
		// container is "" if the problem is that of the pod.
		container, message string
	}{
		{"evicted", child.PodProblems{Failed: &child.ReasonMessage{Reason: "Evicted", Message: "low on memory"}}, v1.ReasonEvicted, "", "low on memory"},
		{"preempted", child.PodProblems{Failed: &child.ReasonMessage{Reason: "Preempting"}}, v1.ReasonEvicted, "", "Preempting"},
		{"rejected", child.PodProblems{Failed: &child.ReasonMessage{Reason: "OutOfcpu"}}, v1.ReasonPodRejected, "", "OutOfcpu"},
		{
			"a claim that is missing", child.PodProblems{Unscheduled: &child.ReasonMessage{Reason: "Unschedulable", Message: `0/1 nodes are available: persistentvolumeclaim "data" not found. not found`}},
			v1.ReasonUnschedulable, "", `0/1 nodes are available: persistentvolumeclaim "data" not found.`,
		},
		{"unschedulable", child.PodProblems{Unscheduled: &child.ReasonMessage{Reason: "Unschedulable", Message: "0/3 nodes"}}, v1.ReasonUnschedulable, "", "0/3 nodes"},
		{"image", waiting("ImagePullBackOff", "not found"), v1.ReasonImagePullFailed, "web", "not found"},
		{"image name", waiting("InvalidImageName", ""), v1.ReasonImagePullFailed, "web", "InvalidImageName"},
		{"config", waiting("CreateContainerConfigError", `secret "db" not found`), v1.ReasonConfigError, "web", `secret "db" not found`},
		{"start", waiting("RunContainerError", "no such file"), v1.ReasonStartFailed, "web", "no such file"},
		{"runtime", exiting(false, child.Termination{Reason: "StartError", Message: "exec format error"}), v1.ReasonStartFailed, "web", "exec format error"},
		{"crash", exiting(false, child.Termination{ExitCode: 2, Reason: "Error", Restarts: 5}), v1.ReasonCrashLooping, "web",
			"Exited with code 2 (Error). Restarted at least 5 times."},
		{"ends", exiting(false, child.Termination{Reason: "Completed"}), v1.ReasonCrashLooping, "web", "Exited with code 0 (Completed), but must keep running."},
		{"memory", exiting(false, child.Termination{ExitCode: 137, Reason: "OOMKilled"}), v1.ReasonCrashLooping, "web", "Out of memory (OOMKilled, exit code 137)."},
		{"unknown exit", exiting(false, child.Termination{}), v1.ReasonCrashLooping, "web", "The container keeps exiting."},
		{"init container", exiting(true, child.Termination{ExitCode: 1, Reason: "Error"}), v1.ReasonInitFailed, "web", "Exited with code 1 (Error)."},
		{"init container that does not start", exiting(true, child.Termination{Reason: "StartError", Message: "no such file"}), v1.ReasonStartFailed, "web", "no such file"},
		{"gate", child.PodProblems{Gate: &child.Unready{Since: at(-60), Message: "example.com/lb is False"}}, v1.ReasonReadinessFailing, "",
			"A readiness gate has been closed since 2026-07-01T11:59:00Z: example.com/lb is False"},
		{"node", child.PodProblems{NodeUnreachable: new(at(-60))}, v1.ReasonNodeLost, "", "The pod's node has been unreachable since 2026-07-01T11:59:00Z."},
		{"volumes within a minute", child.PodProblems{NotReadyToStart: new(at(-59))}, "", "", ""},
		{"volumes", child.PodProblems{NotReadyToStart: new(at(-60))}, v1.ReasonVolumeNotMounting, "",
			"Scheduled, but since 2026-07-01T11:59:00Z its volumes are not mounted or its network is not ready; " +
				"see the Events of the pod. A ConfigMap, Secret or claim that it mounts may be missing."},
		{"a container says more than the volumes", child.PodProblems{
			NotReadyToStart: new(at(-60)), Containers: waiting("ErrImagePull", "not found").Containers,
		}, v1.ReasonImagePullFailed, "web", "not found"},
		{"the worse of two containers", child.PodProblems{Containers: []child.Container{
			{Name: "sidecar", Termination: &child.Termination{}}, {Name: "web", Waiting: &child.ReasonMessage{Reason: "ErrImagePull"}},
		}}, v1.ReasonImagePullFailed, "web", "ErrImagePull"},
		{"not ready yet", child.PodProblems{Containers: []child.Container{{Name: "web", Unready: &child.Unready{Since: at(-1), Due: at(1)}}}}, "", "", ""},
		{"nothing", child.PodProblems{}, "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var want *v1.Problem
			if test.reason != "" {
				want = &v1.Problem{Reason: test.reason, Container: test.container, Message: test.message, Pods: 1}
			}
			if diff := cmp.Diff(want, WorstOfPod(&test.pod, noon())); diff != "" {
				t.Errorf("the worst problem (-want +got):\n%s", diff)
			}
		})
	}
}
