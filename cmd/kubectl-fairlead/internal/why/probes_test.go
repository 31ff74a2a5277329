// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestFailedProbe distinguishes a program that exits from one that the kubelet ends because a probe fails.
func TestFailedProbe(t *testing.T) {
	const (
		liveness = "Liveness probe failed: HTTP probe failed with statuscode: 404"
		startup  = "Startup probe failed: dial tcp 10.0.0.1:8081: connect: connection refused"
		exits    = "Exited with code 137 (Error)."
		fits     = " fits the container, which the kubelet restarts where the probe fails: path, port and time to start."
		read     = "Read what it said before it ended: kubectl logs web-1 -c web --previous"
	)
	for _, test := range []struct {
		name, about, field, event, message string
		next                               []string
	}{
		{"a liveness probe", "web-1", "spec.containers{web}", liveness, exits, []string{"Check that spec.livenessProbe" + fits, read}},
		{"a startup probe", "web-1", "spec.containers{web}", startup, exits, []string{"Check that spec.startupProbe" + fits, read}},
		{"a readiness probe", "web-1", "spec.containers{web}", "Readiness probe failed: EOF", exits, []string{read}},
		{"another container", "web-1", "spec.containers{proxy}", liveness, exits, []string{read}},
		{"another pod", "web-2", "spec.containers{web}", liveness, exits, []string{read}},
		{"no memory", "web-1", "spec.containers{web}", liveness, "Out of memory (OOMKilled, exit code 137).",
			[]string{"Raise spec.resources.limits.memory, or let the application use less: kubectl fairlead top web", read}},
	} {
		loaded := clustertest.Load(t, "image")
		loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonCrashLooping, Container: "web", Pods: 1, Message: test.message}}
		pod := loaded.Pods[0]
		loaded.Pods, pod.Name = []*corev1.Pod{pod}, "web-1"
		status := &pod.Status.ContainerStatuses[0]
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error", FinishedAt: metav1.NewTime(treetest.Now)}
		loaded.EventsOfObjects = []corev1.Event{{
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: test.about, FieldPath: test.field},
			Type:           corev1.EventTypeWarning, Reason: "Unhealthy", Message: test.event, LastTimestamp: metav1.NewTime(treetest.Now),
		}}
		finding := why.Explain(loaded).Findings[0]
		if next := finding.Next[:min(len(finding.Next), len(test.next))]; !slices.Equal(next, test.next) {
			t.Errorf("%s: %q, want %q", test.name, finding.Next, test.next)
		}
		shown := slices.ContainsFunc(finding.Evidence, func(e why.Evidence) bool {
			return e.Object == "Pod/web-1" && e.Field == "Event Unhealthy" && e.Message == test.event
		})
		if want := len(test.next) == 2 && test.message == exits; shown != want {
			t.Errorf("%s: %+v, want the Event %t", test.name, finding.Evidence, want)
		}
	}
}
