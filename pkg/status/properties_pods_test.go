// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// anyPods draws pods of several ReplicaSets, in any trouble, likely or not.
func anyPods(t *rapid.T) []*child.Pod {
	text := rapid.OneOf(rapid.String(), rapid.StringN(200, 2000, 4000), rapid.SampledFrom([]string{
		"", "{since}", `Back-off pulling image "x": ErrImagePull: not found`, `secret "web-db" not found`,
	}))
	reasons := rapid.SampledFrom([]string{
		"", "ErrImagePull", "ImagePullBackOff", "CreateContainerConfigError", "CreateContainerError", "StartError", "Error", "OOMKilled", "Completed", "Evicted", "OutOfcpu", "Unschedulable",
	})
	words := func() *child.ReasonMessage {
		return &child.ReasonMessage{Reason: reasons.Draw(t, "reason"), Message: text.Draw(t, "message")}
	}
	unready := func() *child.Unready {
		since := at(-rapid.IntRange(0, 3600).Draw(t, "since"))
		return &child.Unready{Since: since, Due: since, Message: text.Draw(t, "message")}
	}
	container := rapid.Custom(func(t *rapid.T) child.Container {
		c := child.Container{Name: rapid.SampledFrom([]string{"web", "proxy", "a", "b", "c", "d", "e"}).Draw(t, "container"), Init: rapid.Bool().Draw(t, "init")}
		switch rapid.IntRange(0, 2).Draw(t, "state") {
		case 0:
			c.Waiting = words()
		case 1:
			c.Termination = &child.Termination{
				ExitCode: rapid.Int32Range(0, 255).Draw(t, "exit code"), Reason: reasons.Draw(t, "end"),
				Message: text.Draw(t, "message"), Restarts: rapid.SampledFrom([]int32{0, 5, 100}).Draw(t, "restarts"),
			}
		default:
			c.Unready = unready()
		}
		return c
	})
	pod := rapid.Custom(func(t *rapid.T) *child.Pod {
		p := &child.Pod{ReplicaSet: rapid.SampledFrom([]types.UID{currentUID, currentUID, "old", ""}).Draw(t, "ReplicaSet")}
		switch rapid.IntRange(0, 6).Draw(t, "trouble") {
		case 0:
		case 1:
			p.Problems = &child.PodProblems{Failed: words()}
		case 2:
			p.Problems = &child.PodProblems{Unscheduled: words()}
		case 3:
			p.Problems = &child.PodProblems{Gate: unready()}
		case 4:
			p.Problems = &child.PodProblems{NotReadyToStart: new(at(-600)), NodeUnreachable: new(at(-60))}
		default:
			p.Problems = &child.PodProblems{Containers: rapid.SliceOfN(container, 1, 4).Draw(t, "containers")}
		}
		return p
	})
	return rapid.SliceOfN(pod, 0, 12).Draw(t, "pods")
}

// checkProblems holds what status.problems promises, whatever pods say.
func checkProblems(t *rapid.T, in Input, status v1.ApplicationStatus) {
	if len(status.Problems) > health.MaxProblems {
		t.Fatalf("%d problems", len(status.Problems))
	}
	if status.Conditions[0].Status == "True" && len(status.Problems) > 0 {
		t.Fatalf("ready, with %+v", status.Problems)
	}
	last := 0
	for _, problem := range status.Problems {
		severity := slices.Index(health.ReasonsBySeverity(), problem.Reason)
		if severity < last {
			t.Fatalf("%s stands in the wrong place, or is not listed", problem.Reason)
		}
		last = severity
		if len(problem.Message) > health.MaxProblemMessage || problem.Message == "" {
			t.Fatalf("%s says %q", problem.Reason, problem.Message)
		}
		if slices.ContainsFunc([]rune(problem.Message), unicode.IsControl) {
			t.Fatalf("control characters in %q", problem.Message)
		}
		if int(problem.Pods) > len(in.Snapshot.Pods)*4 {
			t.Fatalf("%d pods of %d", problem.Pods, len(in.Snapshot.Pods))
		}
	}
	shuffled := in
	shuffled.Snapshot.Pods = rapid.Permutation(in.Snapshot.Pods).Draw(t, "order of the pods")
	shuffled.Snapshot.ReplicaSets = reversed(in.Snapshot.ReplicaSets)
	if diff := cmp.Diff(status.Problems, compute(shuffled, noon.Add(time.Hour)).Problems); diff != "" {
		t.Fatalf("another order of pods makes other problems: %s", diff)
	}
}

// Pods of a Deployment that rolls out, so that none of the many other reasons comes first.
func TestProblemProperties(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		in := with(withPods(0, nil), func(in *Input, d *appsv1.Deployment) {
			rollingOut(d)
			in.Snapshot.Pods = anyPods(t)
			in.Snapshot.ReplicaSets[1].Failure = rapid.SampledFrom([]string{"", "exceeded quota: small"}).Draw(t, "failure")
		})
		status := compute(in, noon)
		checkProblems(t, in, status)
		blamed := 0
		for _, pod := range in.Snapshot.Pods {
			if pod.Problems != nil && pod.ReplicaSet == currentUID {
				blamed++
			}
		}
		if blamed > 0 != (len(status.Problems) > 0) && in.Snapshot.ReplicaSets[1].Failure == "" {
			t.Fatalf("%d pods in trouble, and the problems are %s", blamed, fmt.Sprint(status.Problems))
		}
	})
}
